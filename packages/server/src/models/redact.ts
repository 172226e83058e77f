/** Replaces secrets in texts that people or logs will see (I-143). */
export type Redact = (text: string) => string;

const patterns: readonly [RegExp, string][] = [
  // A query of a URL may hold a key (Gemini's `?key=`), so none is ever shown.
  [/(https?:\/\/[^\s"'<>?#]+)[?#][^\s"'<>]*/gi, "$1"],
  [/(https?:\/\/)[^\s/@"'<>]+@/gi, "$1"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 [redacted]"],
  [/\b(?:sk|rk|pk|gsk|xai|key)-[\w-]{12,}/g, "[redacted]"],
  [/\bAIza[\w-]{20,}/g, "[redacted]"],
];

/** Redacts by value (each secret plain, URL-encoded and base64) and by the common patterns of keys. */
export function createRedact(secrets: readonly (string | undefined)[]): Redact {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret === undefined || secret.length < 4) continue;
    forms.add(secret);
    forms.add(encodeURIComponent(secret));
    forms.add(Buffer.from(secret).toString("base64"));
    forms.add(Buffer.from(secret).toString("base64url"));
  }
  const values = [...forms].sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const value of values) clean = clean.replaceAll(value, "[redacted]");
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
    return clean;
  };
}
