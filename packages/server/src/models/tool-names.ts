import { createHash } from "node:crypto";

/** The way between our tool names and the ones a provider accepts (I-104). */
export interface ToolNames {
  /** At most 64 of `[a-zA-Z0-9_-]`, beginning with a letter or `_`; the same name always gives the same result. */
  toProvider(name: string): string;
  /** Our name again; a name that was never mapped is returned as it is. */
  toOwn(name: string): string;
}

const maxLength = 64;
const safe = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Maps the names of the offered tools. A name that must change gets a hash of the original, so none can clash. */
export function createToolNames(names: readonly string[]): ToolNames {
  const own = new Map(names.map((name) => [providerName(name), name]));
  return {
    toProvider: providerName,
    toOwn: (name) => own.get(name) ?? name,
  };
}

function providerName(name: string): string {
  if (safe.test(name)) return name;
  const suffix = `_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
  const cleaned = name.replace(/[^a-zA-Z0-9_-]+/g, "_").replace(/^[^a-zA-Z_]/, "_$&");
  return (cleaned === "" ? "tool" : cleaned).slice(0, maxLength - suffix.length) + suffix;
}
