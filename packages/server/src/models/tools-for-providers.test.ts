import { expect, test } from "vitest";
import { providerSchema } from "./schema.js";
import { createToolIds, toolIdStyle } from "./tool-ids.js";
import { createToolNames } from "./tool-names.js";

test("tool names become safe, stay apart and map back (I-104)", () => {
  const names = ["1.weird tool/名前", "n".repeat(80), "a b", "a_b", "a.b", "", "Read"];
  const map = createToolNames(names);
  const mapped = names.map((name) => map.toProvider(name));
  for (const name of mapped) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  expect(new Set(mapped).size).toBe(names.length);
  expect(mapped.map((name) => map.toOwn(name))).toEqual(names);
  expect(map.toProvider("Read")).toBe("Read");
  expect(createToolNames([]).toProvider("a b")).toBe(map.toProvider("a b"));
  expect(map.toOwn("invented")).toBe("invented");
});

test("ids are kept where they fit and are stable where they do not (I-103)", () => {
  expect(createToolIds("common").next("toolu_01")).toBe("toolu_01");
  const first = createToolIds("common");
  const second = createToolIds("common");
  for (const id of ["functions.read:0", "functions.read:0", "y".repeat(70)]) {
    const mapped = first.next(id);
    expect(mapped).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(second.next(id)).toBe(mapped);
  }
  expect(toolIdStyle("openai-compatible", "mistral-large-latest", "https://api.mistral.ai/v1")).toBe("nine");
  expect(toolIdStyle("openai-compatible", "mistralai/devstral-2512", undefined)).toBe("nine");
  expect(toolIdStyle("openai-compatible", "qwen3", "http://127.0.0.1:11434/v1")).toBe("common");
});

test("schemas: references are resolved, cycles end, the root is a plain object (I-104)", () => {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      node: { $ref: "#/$defs/node" },
      list: { type: "array" },
      pair: { type: "array", items: [{ type: "string" }] },
    },
    required: ["node", "missing"],
    $defs: {
      node: {
        type: "object",
        properties: { next: { $ref: "#/$defs/node" }, value: { const: 1 } },
        additionalProperties: false,
      },
    },
  };
  expect(providerSchema(schema, "anthropic")).toEqual({
    type: "object",
    properties: {
      node: { type: "object", properties: { next: {}, value: { const: 1 } }, additionalProperties: false },
      list: { type: "array", items: {} },
      pair: { type: "array", items: { type: "string" } },
    },
    required: ["node"],
  });
  const google = providerSchema(schema, "google");
  expect(JSON.stringify(google)).not.toContain("additionalProperties");
  expect(google.properties?.["list"]).toEqual({ type: "array", items: { type: "string" } });
});

test("schemas: alternatives at the root become one object; nothing at all becomes an empty object", () => {
  const schema = {
    oneOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "number" } } },
    ],
  };
  expect(providerSchema(schema, "openai")).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
  });
  expect(providerSchema(null, "openai")).toEqual({ type: "object", properties: {} });
});
