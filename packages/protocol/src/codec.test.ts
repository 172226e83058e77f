import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { AgentClientMessageSchema, AgentServerMessageSchema, ConversationStateStructureSchema } from "./agent.js";
import {
  countUnknownFields,
  decodeClientMessage,
  decodeServerMessage,
  encodeClientMessage,
  encodeServerMessage,
  MalformedMessage,
} from "./codec.js";

/** A field that no schema knows, as a newer client would send it. */
function unknownField(number: number, text: string): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).string(text).finish();
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** A run request whose conversation state holds `state` verbatim. */
function runRequestWithState(state: Uint8Array): Uint8Array {
  const runRequest = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(state).finish();
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(runRequest).finish();
}

describe("client messages", () => {
  it("decode to the case they carry", () => {
    const message = create(AgentClientMessageSchema, {
      message: { case: "execClientControlMessage", value: { message: { case: "streamClose", value: { id: 7 } } } },
    });
    expect(decodeClientMessage(encodeClientMessage(message))).toEqual(message);
  });

  it("keep a case that the schema lacks, byte for byte", () => {
    const bytes = unknownField(99, "a case of tomorrow");
    const message = decodeClientMessage(bytes);
    expect(message.message.case).toBeUndefined();
    expect(encodeClientMessage(message)).toEqual(bytes);
  });

  it("keep unknown fields nested in the conversation state", () => {
    const known = toBinary(
      ConversationStateStructureSchema,
      create(ConversationStateStructureSchema, {
        turns: [Uint8Array.of(1, 2)],
        subagentStates: { child: { modelId: "m" } },
      }),
    );
    const bytes = runRequestWithState(concat(known, unknownField(1234, "kept"), unknownField(1235, "kept too")));
    const message = decodeClientMessage(bytes);
    expect(message.message.case).toBe("runRequest");
    expect(encodeClientMessage(message)).toEqual(bytes);
    expect(countUnknownFields(message)).toBe(2);
  });

  it("are refused with the field named when they are no protobuf", () => {
    for (const bytes of [Uint8Array.of(0x0a, 0x05, 1), Uint8Array.of(0xff), Uint8Array.of(0x0a, 0x03, 0x2a, 1, 0xff)]) {
      const error = catchError(() => decodeClientMessage(bytes));
      expect(MalformedMessage.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ field: "message" });
    }
  });

  it("are refused when they nest without end", () => {
    // An unknown group within a group within a group: the shortest way to go deep.
    const error = catchError(() => decodeClientMessage(new Uint8Array(100_000).fill((15 << 3) | 3)));
    expect(MalformedMessage.isInstance(error)).toBe(true);
  });
});

describe("server messages", () => {
  it("decode to what was encoded, unknown fields included", () => {
    const message = create(AgentServerMessageSchema, {
      message: {
        case: "interactionUpdate",
        value: { message: { case: "textDelta", value: { text: "h\u00e9 \u{1f600}" } } },
      },
    });
    const bytes = concat(encodeServerMessage(message), unknownField(99, "more"));
    const decoded = decodeServerMessage(bytes);
    expect(decoded.message).toEqual(message.message);
    expect(encodeServerMessage(decoded)).toEqual(bytes);
  });

  it("are refused as malformed", () => {
    expect(() => decodeServerMessage(Uint8Array.of(0xff))).toThrow(MalformedMessage);
  });
});

describe("countUnknownFields", () => {
  it("is zero for what the schema knows", () => {
    expect(countUnknownFields(create(AgentClientMessageSchema, {}))).toBe(0);
    expect(countUnknownFields(decodeClientMessage(runRequestWithState(new Uint8Array(0))))).toBe(0);
  });

  it("counts at the top, in lists, in maps and in singular fields", () => {
    const extra = [{ no: 900, wireType: WireType.Varint, data: Uint8Array.of(1) }];
    const message = create(AgentClientMessageSchema, {
      message: {
        case: "runRequest",
        value: {
          conversationState: { subagentStates: { child: { conversationState: {} } }, turnTimings: [{}, {}] },
          requestedModel: { modelId: "m" },
        },
      },
    });
    if (message.message.case !== "runRequest") throw new Error("the case was lost");
    const run = message.message.value;
    message.$unknown = extra;
    for (const nested of [
      run.requestedModel,
      run.conversationState?.turnTimings[1],
      run.conversationState?.subagentStates["child"]?.conversationState,
    ]) {
      if (nested === undefined) throw new Error("a part is missing");
      nested.$unknown = extra;
    }
    expect(countUnknownFields(message)).toBe(4);
  });

  it("does not take JSON that a client sends for a message", () => {
    const message = create(AgentClientMessageSchema, {
      message: {
        case: "execClientMessage",
        value: {
          message: {
            case: "mcpResult",
            value: {
              result: { case: "success", value: { structuredContent: { $typeName: "x", $unknown: [1, 2, 3] } } },
            },
          },
        },
      },
    });
    expect(countUnknownFields(message)).toBe(0);
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
