import { readFileSync } from "node:fs";
import type { DescEnum, DescField, DescFile, DescMessage, DescService } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import * as agent from "./agent.js";
import * as aiserver from "./aiserver.js";

/**
 * Compares the generated descriptors with the tables in `../wire`, row by row and in both directions. The tables are
 * the facts; the proto files only add names of files and comments.
 */
const packages = [
  { name: "agent.v1", table: "agent_v1.tsv", exports: agent, beyondTheTable: [] },
  {
    name: "aiserver.v1",
    table: "aiserver_v1.tsv",
    exports: aiserver,
    // Known from what a client does with the answer; the table knows the request only.
    beyondTheTable: [
      "rpc	ServerConfigService	GetServerConfig	( GetServerConfigRequest ) returns ( GetServerConfigResponse )",
      "message	GetServerConfigResponse	6	config_version	-	string	-",
      "message	GetServerConfigResponse	7	http2_config	-	Http2Config	-",
      "enum	Http2Config	0	HTTP2_CONFIG_UNSPECIFIED",
      "enum	Http2Config	1	HTTP2_CONFIG_FORCE_ALL_DISABLED",
      "enum	Http2Config	2	HTTP2_CONFIG_FORCE_ALL_ENABLED",
      "enum	Http2Config	3	HTTP2_CONFIG_FORCE_BIDI_DISABLED",
      "enum	Http2Config	4	HTTP2_CONFIG_FORCE_BIDI_ENABLED",
    ],
  },
];

describe.each(packages)("$name", ({ name, table, exports, beyondTheTable }) => {
  const expected = readTable(table);
  const files = Object.values(exports).filter(isFile);
  const actual = files.flatMap((file) => new RowWriter(name).file(file));

  it("has a table and descriptors that are worth comparing", () => {
    expect(expected.length).toBeGreaterThan(400);
    expect(files.length).toBeGreaterThan(5);
    expect(files.every((file) => file.proto.package === name)).toBe(true);
    expect(repeated(expected)).toEqual([]);
    expect(repeated(actual)).toEqual([]);
  });

  it("declares every row of the table as it stands there", () => {
    expect(without(expected, actual)).toEqual([]);
  });

  it("declares nothing beyond the table but what is listed here", () => {
    expect(without(actual, expected).sort()).toEqual([...beyondTheTable].sort());
  });
});

describe("the comparison", () => {
  it("sees a change in any column of any kind of row", () => {
    const actual = Object.values(aiserver)
      .filter(isFile)
      .flatMap((file) => new RowWriter("aiserver.v1").file(file));
    for (const row of readTable("aiserver_v1.tsv")) {
      const columns = row.split("\t");
      for (const column of columns.keys()) {
        const changed = columns.with(column, `${columns[column]}x`).join("\t");
        expect(without([changed], actual)).toEqual([changed]);
      }
    }
  });
});

function readTable(file: string): string[] {
  return readFileSync(new URL(`../wire/${file}`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function isFile(value: unknown): value is DescFile {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "file";
}

function without(rows: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return rows.filter((row) => !known.has(row));
}

function repeated(rows: readonly string[]): string[] {
  const seen = new Set<string>();
  return rows.filter((row) => seen.size === seen.add(row).size);
}

/** Writes descriptors of one package as rows of its table. */
class RowWriter {
  readonly #prefix: string;

  constructor(packageName: string) {
    this.#prefix = `${packageName}.`;
  }

  file(file: DescFile): string[] {
    return [
      ...file.messages.flatMap((message) => this.#message(message)),
      ...file.enums.flatMap((type) => this.#enum(type)),
      ...file.services.flatMap((service) => this.#service(service)),
    ];
  }

  #message(message: DescMessage): string[] {
    const name = this.#name(message.typeName);
    const rows = message.fields.map((field) => this.#field(name, field));
    return [
      ...(rows.length > 0 ? rows : [["message", name, "-", "-", "-", "-", "-"].join("\t")]),
      ...message.nestedMessages.flatMap((nested) => this.#message(nested)),
      ...message.nestedEnums.flatMap((nested) => this.#enum(nested)),
    ];
  }

  #field(message: string, field: DescField): string {
    return [
      "message",
      message,
      field.number,
      field.name,
      labelOf(field),
      this.#type(field),
      field.oneof?.name ?? "-",
    ].join("\t");
  }

  #type(field: DescField): string {
    const typeName = field.message?.typeName ?? field.enum?.typeName;
    const type = typeName === undefined ? scalarName(field.scalar) : this.#name(typeName);
    return field.fieldKind === "map" ? `map<${scalarName(field.mapKey)},${type}>` : type;
  }

  #enum(type: DescEnum): string[] {
    return type.values.map((value) => ["enum", this.#name(type.typeName), value.number, value.name].join("\t"));
  }

  #service(service: DescService): string[] {
    return service.methods.map((method) => {
      const { clientStreaming, serverStreaming } = method.proto;
      const input = `${clientStreaming ? "stream " : ""}${this.#name(method.input.typeName)}`;
      const output = `${serverStreaming ? "stream " : ""}${this.#name(method.output.typeName)}`;
      return ["rpc", this.#name(service.typeName), method.name, `( ${input} ) returns ( ${output} )`].join("\t");
    });
  }

  /** Types of the package go without its name, all others with theirs. */
  #name(typeName: string): string {
    return typeName.startsWith(this.#prefix) ? typeName.slice(this.#prefix.length) : typeName;
  }
}

function labelOf(field: DescField): string {
  if (field.fieldKind === "list") return "repeated";
  return field.proto.proto3Optional ? "optional" : "-";
}

/** By the numbers of `google.protobuf.FieldDescriptorProto.Type`. */
const scalarNames: Readonly<Record<number, string>> = {
  1: "double",
  2: "float",
  3: "int64",
  4: "uint64",
  5: "int32",
  6: "fixed64",
  7: "fixed32",
  8: "bool",
  9: "string",
  12: "bytes",
  13: "uint32",
  15: "sfixed32",
  16: "sfixed64",
  17: "sint32",
  18: "sint64",
};

function scalarName(type: number | undefined): string {
  return (type === undefined ? undefined : scalarNames[type]) ?? `type ${type}`;
}
