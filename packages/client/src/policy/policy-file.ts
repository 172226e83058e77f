import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { PolicyRule } from "./rules.js";

const fields = ["effect", "tool", "command", "path", "server", "url"];

/**
 * The rules remembered for a project: `{"rules": [{"effect": "allow", "tool": "shell", "command": "npm test"}]}`.
 * Throws an error that names the file when it is broken: a rule that was lost could be a prohibition.
 */
export async function readPolicyFile(file: string): Promise<PolicyRule[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`The policy file ${file} cannot be read.`, { cause });
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new Error(`The policy file ${file} is not valid JSON: correct or remove it.`, { cause });
  }
  const rules = typeof content === "object" && content !== null ? (content as { rules?: unknown }).rules : undefined;
  if (!Array.isArray(rules)) throw new Error(`The policy file ${file} has no list "rules".`);
  return rules.map((rule: unknown, index) => checkedRule(rule, `${file}: rules[${index}]`));
}

/** Replaces the remembered rules, whole or not at all. */
export async function writePolicyFile(file: string, rules: readonly PolicyRule[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, `${JSON.stringify({ rules }, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}

function checkedRule(rule: unknown, place: string): PolicyRule {
  if (typeof rule !== "object" || rule === null) throw new Error(`${place} is not an object.`);
  const entries = Object.entries(rule);
  for (const [name, value] of entries) {
    if (!fields.includes(name))
      throw new Error(`${place} has the unknown field "${name}" (known: ${fields.join(", ")}).`);
    if (typeof value !== "string") throw new Error(`${place}: "${name}" is not a text.`);
  }
  const { effect } = rule as PolicyRule;
  if (effect !== "allow" && effect !== "ask" && effect !== "deny")
    throw new Error(`${place}: "effect" must be allow, ask or deny.`);
  return rule as PolicyRule;
}
