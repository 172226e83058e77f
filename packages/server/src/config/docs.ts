import { ollamaVariables, wellKnownProviders } from "./env-providers.js";
import { jsonSchema } from "./schema.js";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

const introduction = `# Configuration

<!-- Generated from the schema in packages/server/src/config/schema.ts; do not edit. -->

Keyturn reads one file. The first of these counts: \`--config\`, \`KEYTURN_CONFIG\`, \`keyturn.yaml\`, \`keyturn.yml\`,
\`keyturn.json\`, \`keyturn.jsonc\` in the working directory, \`keyturn.yaml\` in the data folder. Without a file, the environment
variables below are enough. The command line wins over the environment, and the environment over the file.
Unknown keys are errors. \`keyturn config validate\` checks a file, \`keyturn config schema\` prints its JSON schema.

\`\`\`yaml
server: { port: 8484 }
providers:
  openai: { type: openai, apiKey: "\${OPENAI_API_KEY}" }
  local: { type: openai-compatible, baseURL: "http://127.0.0.1:11434/v1" }
models:
  - { id: gpt-5, provider: openai }
  - { id: qwen, provider: local, model: "qwen3:32b", contextWindow: 32768, displayName: Qwen }
aliases: { default: gpt-5, "composer-*": gpt-5 }
slots: { title: qwen }
fallbacks: { gpt-5: [qwen] }
\`\`\`

In any text, \`\${NAME}\` stands for an environment variable, \`\${NAME:-default}\` for one that may be missing, and \`{file:path}\` for
the trimmed text of a file, relative to the configuration file. \`$\${\` is a plain \`\${\`.
`;

/** docs/configuration.md; a test compares it with the file. */
export function renderConfigDocs(): string {
  const root = jsonSchema() as Schema;
  const sections = Object.entries(root.properties ?? {}).map(([key, schema]) => renderSection(key, schema));
  return `${[introduction, ...sections, renderEnvironment()].join("\n").trimEnd()}\n`;
}

function renderSection(key: string, schema: Schema): string {
  const rows = collectRows(key, schema);
  const table =
    rows.length === 0 ? [] : ["", "| key | value | default | meaning |", "| --- | --- | --- | --- |", ...rows];
  const ownValue = schema.enum === undefined ? [] : ["", `${valueOf(schema)}; default ${defaultOf(schema, false)}.`];
  return [`## \`${key}\``, "", schema.description ?? "", ...ownValue, ...table, ""].join("\n");
}

/** Flattens maps and lists: \`providers.<name>.type\`, \`models[].id\`. */
function collectRows(prefix: string, schema: Schema): string[] {
  const other = schema.additionalProperties;
  if (typeof other === "object")
    return other.properties ? collectRows(`${prefix}.<name>`, other) : [row(`${prefix}.<name>`, other, false)];
  if (schema.items?.properties !== undefined) return collectRows(`${prefix}[]`, schema.items);
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const path = `${prefix}.${key}`;
    if (inner.properties !== undefined) return collectRows(path, inner);
    return [row(path, inner, schema.required?.includes(key) === true)];
  });
}

function row(path: string, schema: Schema, required: boolean): string {
  const cells = [`\`${path}\``, valueOf(schema), defaultOf(schema, required), schema.description ?? ""];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function valueOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.format === "uri") return "URL";
  if (schema.type === "array") return `list of ${valueOf(schema.items ?? {})}`;
  if (schema.type === "object") return "map of text";
  if (schema.type === "boolean") return "`true`, `false`";
  return schema.type === "integer" ? "number" : "text";
}

function defaultOf(schema: Schema, required: boolean): string {
  if (required) return "required";
  if (schema.default === undefined) return "";
  return `\`${typeof schema.default === "string" ? schema.default : JSON.stringify(schema.default)}\``;
}

function renderEnvironment(): string {
  const names = (list: readonly string[]) => list.map((variable) => `\`${variable}\``).join(", ");
  const own = [
    "| `KEYTURN_CONFIG` | the configuration file |",
    "| `KEYTURN_HOST`, `KEYTURN_PORT` | in place of `server.host` and `server.port` |",
    "| `KEYTURN_DATA_DIR` | the data folder, `~/.keyturn` by default |",
    "| `KEYTURN_API_KEY` | presets the API key that clients use (16 characters or more) |",
    "| `KEYTURN_LOG_LEVEL` | in place of `logLevel` |",
  ];
  const providers = wellKnownProviders.map(
    ({ name, keys, baseURLs }) =>
      `| ${names(keys)} | the provider \`${name}\`; its address can be set with ${names(baseURLs)} |`,
  );
  return [
    "## Environment",
    "",
    "Without `providers` in the file, every provider whose variable is set is there, with its well-known models.",
    "",
    "| variable | meaning |",
    "| --- | --- |",
    ...own,
    ...providers,
    `| ${names(ollamaVariables)} | the provider \`ollama\` at that address |`,
  ].join("\n");
}
