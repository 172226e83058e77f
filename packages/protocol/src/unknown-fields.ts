import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type AgentClientMessage, AgentClientMessageSchema } from "./agent.js";

/**
 * How many fields of a client message, at any depth, the schema does not know (I10). They are kept by the codec;
 * the count is what makes a client newer than the schema visible.
 *
 * Costs one look at each field that can hold a message: scalars, bytes and `google.protobuf` values are not entered.
 */
export function countUnknownFields(message: AgentClientMessage): number {
  return countIn(AgentClientMessageSchema, message);
}

/** Fields by message type through which further messages of this protocol can be reached. */
const nestingFields = new WeakMap<DescMessage, readonly NestingField[]>();

type NestingField = DescField & { readonly message: DescMessage };

function countIn(schema: DescMessage, message: Message): number {
  let count = message.$unknown?.length ?? 0;
  for (const field of nestingFieldsOf(schema)) {
    for (const nested of valuesOf(field, message)) {
      count += countIn(field.message, nested);
    }
  }
  return count;
}

function nestingFieldsOf(schema: DescMessage): readonly NestingField[] {
  let fields = nestingFields.get(schema);
  if (fields === undefined) {
    fields = schema.fields.filter(
      (field): field is NestingField =>
        // A google.protobuf.Struct is plain JSON in memory: a key in it may look like anything.
        field.message !== undefined && field.message.file.proto.package !== "google.protobuf",
    );
    nestingFields.set(schema, fields);
  }
  return fields;
}

function valuesOf(field: NestingField, message: Message): Iterable<Message> {
  // The generated types promise this shape: `localName` names a property, and a oneof is `{ case, value }`.
  const properties = message as unknown as Readonly<Record<string, unknown>>;
  if (field.oneof !== undefined) {
    const chosen = properties[field.oneof.localName] as { readonly case?: string; readonly value?: Message };
    return chosen.case === field.localName && chosen.value !== undefined ? [chosen.value] : [];
  }
  const value = properties[field.localName];
  if (value === undefined) return [];
  if (field.fieldKind === "list") return value as readonly Message[];
  if (field.fieldKind === "map") return Object.values(value as Readonly<Record<string, Message>>);
  return [value as Message];
}
