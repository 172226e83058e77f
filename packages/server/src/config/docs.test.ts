import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { renderConfigDocs } from "./docs.js";
import { jsonSchema } from "./schema.js";

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly description?: string;
}

describe("the published schema", () => {
  it("describes every key and knows no others", () => {
    const undescribed: string[] = [];
    const visit = (schema: Schema, path: string) => {
      if (schema.properties !== undefined) expect(schema.additionalProperties, path).toBe(false);
      for (const [key, inner] of Object.entries(schema.properties ?? {})) {
        if (inner.description === undefined) undescribed.push(`${path}.${key}`);
        visit(inner, `${path}.${key}`);
      }
      if (typeof schema.additionalProperties === "object") visit(schema.additionalProperties, `${path}.*`);
      if (schema.items !== undefined) visit(schema.items, `${path}[]`);
    };
    visit(jsonSchema() as Schema, "");
    expect(undescribed).toEqual([]);
  });

  it("is what docs/configuration.md is made of", async () => {
    // `vitest run -u` writes it.
    const file = fileURLToPath(new URL("../../../../docs/configuration.md", import.meta.url));
    await expect(renderConfigDocs()).toMatchFileSnapshot(file);
  });
});
