import type { Json } from "../run/ids.js";
import { resolvePath } from "./paths.js";
import type { ToolContext } from "./tool.js";

const smallestInteger = -0x8000_0000;
const largestInteger = 0x7fff_ffff;

type JsonObject = { readonly [key: string]: Json | undefined };

/**
 * Reads the arguments of one call by name, in any of their usual spellings, and collects what is wrong with them.
 * Absent and null optional arguments are undefined; a wrong type is a problem, never ignored, because a call that does
 * something else than asked is worse than one that fails with a hint.
 */
export class ArgumentReader {
  readonly problems: string[] = [];
  readonly #args: JsonObject;

  constructor(args: Json) {
    this.#args = isObject(args) ? args : {};
    if (!isObject(args)) this.problems.push("the arguments must be one JSON object");
  }

  /** True when an argument is there and not null. */
  has(...names: readonly string[]): boolean {
    return this.#find(names) !== undefined;
  }

  /** Text that must be there; may be empty only when allowed. Empty text stands in for what is missing. */
  text(names: readonly [string, ...string[]], options: { empty?: boolean; nul?: boolean } = {}): string {
    const value = this.optionalText(names, { nul: options.nul });
    if (value === undefined) {
      if (!this.has(...names)) this.problems.push(`"${names[0]}" is missing`);
      return "";
    }
    if (value === "" && !options.empty) this.problems.push(`"${names[0]}" must not be empty`);
    return value;
  }

  /** Text that may be absent. NUL is refused unless allowed: it is never part of a path, command or pattern. */
  optionalText(names: readonly [string, ...string[]], options: { nul?: boolean } = {}): string | undefined {
    const value = this.#find(names);
    if (value === undefined) return undefined;
    if (typeof value !== "string") {
      this.problems.push(`"${names[0]}" must be a string, not ${kindOf(value)}`);
      return undefined;
    }
    if (!options.nul && value.includes("\0")) this.problems.push(`"${names[0]}" must not contain a NUL character`);
    return value;
  }

  /** A path that must be there, made absolute with the workspace. */
  path(names: readonly [string, ...string[]], context: ToolContext): string {
    const value = this.text(names);
    return value === "" ? "" : resolvePath(context.workspace, value);
  }

  /** A path that may be absent; empty text counts as absent. */
  optionalPath(names: readonly [string, ...string[]], context: ToolContext): string | undefined {
    const value = this.optionalText(names);
    return value ? resolvePath(context.workspace, value) : undefined;
  }

  /** A boolean, also spelled "true" or "false". */
  flag(names: readonly [string, ...string[]]): boolean | undefined {
    const value = this.#find(names);
    if (value === undefined || typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    this.problems.push(`"${names[0]}" must be true or false`);
    return undefined;
  }

  /** An integer of 32 bits, also as a numeric string. */
  integer(names: readonly [string, ...string[]], minimum: number = smallestInteger): number | undefined {
    const value = this.#find(names);
    if (value === undefined || value === "") return undefined;
    const number = typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number)) {
      this.problems.push(`"${names[0]}" must be an integer`);
      return undefined;
    }
    if (number < minimum || number > largestInteger) {
      this.problems.push(`"${names[0]}" must be between ${minimum} and ${largestInteger}`);
      return undefined;
    }
    return number;
  }

  /** One of the named values. */
  choice<const Choice extends string>(
    names: readonly [string, ...string[]],
    choices: readonly Choice[],
  ): Choice | undefined {
    const value = this.optionalText(names);
    if (value === undefined || value === "") return undefined;
    const choice = choices.find((each) => each === value);
    if (choice === undefined) this.problems.push(`"${names[0]}" must be one of ${choices.join(", ")}`);
    return choice;
  }

  /** Texts without blanks; one string counts as a list of one. */
  texts(names: readonly [string, ...string[]]): string[] {
    const value = this.#find(names);
    if (value === undefined) return [];
    const items = typeof value === "string" ? [value] : value;
    if (!Array.isArray(items) || items.some((item) => typeof item !== "string" || item.includes("\0"))) {
      this.problems.push(`"${names[0]}" must be an array of strings`);
      return [];
    }
    return (items as string[]).map((item) => item.trim()).filter((item) => item !== "");
  }

  /** Readers for an array of objects; their problems carry the item's place. */
  items(names: readonly [string, ...string[]]): ArgumentReader[] {
    const value = this.#find(names);
    if (!Array.isArray(value)) {
      this.problems.push(
        value === undefined ? `"${names[0]}" is missing` : `"${names[0]}" must be an array of objects`,
      );
      return [];
    }
    return (value as readonly Json[]).map((item) => new ArgumentReader(item));
  }

  /** The untouched arguments. */
  get all(): JsonObject {
    return this.#args;
  }

  #find(names: readonly string[]): Json | undefined {
    for (const name of names) {
      const value = Object.hasOwn(this.#args, name) ? this.#args[name] : undefined;
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return "an array (quote JSON text as a string)";
  if (typeof value === "object") return "an object (quote JSON text as a string)";
  return `a ${typeof value}`;
}
