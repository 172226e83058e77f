import type { Json } from "../run/ids.js";
import { type JsonFault, scanJson } from "./json-scan.js";

/** Arguments of a call as an object, or what is wrong with them in words for the model. */
export type ParsedArguments =
  | { readonly ok: true; readonly args: { readonly [key: string]: Json } }
  | { readonly ok: false; readonly problem: string };

/** Deeper arguments are refused: no tool needs them and recursive readers would overflow. */
const maximumDepth = 100;

/**
 * Reads the argument text of a tool call. Empty, white space and `null` are `{}` (I-97); anything else that is not one
 * JSON object is a problem that names the place (I-98, I-95), never silently `{}`. Never throws.
 */
export function parseArguments(raw: string): ParsedArguments {
  const text = raw.replace(/^\uFEFF/, "");
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") return { ok: true, args: {} };
  const fault = scanJson(text, maximumDepth);
  if (fault) return { ok: false, problem: explain(text, fault) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `the arguments are not valid JSON (${String(error)})` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const kind = Array.isArray(value) ? "an array" : `a ${typeof value}`;
    return { ok: false, problem: `the arguments must be one JSON object, not ${kind}` };
  }
  const broken = findLoneSurrogate(value, "");
  if (broken !== null) {
    return {
      ok: false,
      problem: `${broken || "a name"} holds half of a surrogate pair, which is no character; write the whole character (both \\u escapes, or the character itself)`,
    };
  }
  return { ok: true, args: value as { readonly [key: string]: Json } };
}

function explain(text: string, fault: JsonFault): string {
  const near = JSON.stringify(text.slice(Math.max(0, fault.position - 20), fault.position + 10));
  const place = `at position ${fault.position} (near ${near})`;
  switch (fault.kind) {
    case "ended":
      return `the arguments end early ${place}: the JSON object is not closed, so nothing was run; send the whole object, in smaller pieces if it is long`;
    case "more":
      return `the arguments hold more than one JSON value: a second one begins ${place}; send one object a call, and one call for each thing to do`;
    case "control":
      return `the arguments are not valid JSON ${place}: a control character stands inside a string; write it as an escape (\\n, \\t, \\u0000)`;
    case "escape":
      return `the arguments are not valid JSON ${place}: a backslash begins no valid escape; write \\\\ for each backslash (Windows paths, regular expressions)`;
    case "deep":
      return `the arguments are nested more than ${maximumDepth} levels deep ${place}`;
    default:
      return `the arguments are not valid JSON ${place}: this character does not belong there; check quotes, commas and braces`;
  }
}

/** The path of the first string that is not well-formed Unicode; recursion is bounded by the depth that was scanned. */
function findLoneSurrogate(value: unknown, path: string): string | null {
  if (typeof value === "string") return isWellFormed(value) ? null : path;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, item] of Object.entries(value)) {
    if (!isWellFormed(key)) return path;
    const found = findLoneSurrogate(item, path === "" ? `"${key}"` : `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

function isWellFormed(text: string): boolean {
  return (
    !/[\uD800-\uDFFF]/.test(text) ||
    !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
  );
}
