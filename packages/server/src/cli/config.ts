import { jsonSchema } from "../config/schema.js";
import { type CommonOptions, configOf, print, type Terminal } from "./terminal.js";

/** `config validate`: says that the configuration can be used, or rejects with every problem of it. */
export async function validateConfig(terminal: Terminal, options: CommonOptions): Promise<void> {
  const { file, models } = await configOf(terminal, options);
  const facts = { valid: true, file: file ?? null, providers: models.providers.length, models: models.models.length };
  const where = file ?? "no file: defaults and environment";
  print(terminal, options, facts, [`valid (${where}): providers: ${facts.providers}, models: ${facts.models}`]);
}

/** `config schema`: the JSON schema of the file. */
export function printSchema(terminal: Terminal): void {
  terminal.stdout.write(`${JSON.stringify(jsonSchema(), undefined, 2)}\n`);
}
