import { Buffer } from "node:buffer";

/** Replaces secrets in a text. */
export type Redaction = (text: string) => string;

const mask = "[redacted]";

/**
 * Shapes of secrets that no configuration names: of other people's keys, and of keys in what a provider echoes.
 * What the first group holds is kept. None matches a quote or a backslash, so that a JSON line stays one.
 */
const patterns: readonly RegExp[] = [
  /\b((?:Bearer|Basic)(?:\s+|%20))[\w.~+/=%-]{8,}/gi,
  /((?:x-goog-api-key|x-api-key|api-key|authorization|cookie)\\?["']?\s*[:=]\s*\\?["']?)(?!\[redacted\]|(?:Bearer|Basic)\b)[^\s"'\\,;}]+/gi,
  /([?&](?:key|api[-_]?key|access[-_]?token|token|sig|signature)=)[^&\s"'\\<>#]+/gi,
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'\\<>]*:)[^\s/@"'\\<>]+(?=@)/gi,
  /()\b(?:sk|rk|pk|gsk|xai|kta?)[-_][\w-]{12,}/g,
  /()\bAIza[\w-]{20,}/g,
];

/**
 * Redacts every form of the secrets (as it is, in JSON, URL-encoded, base64 in any alignment) and the common shapes of keys (I-143).
 * Secrets of fewer than 6 characters are left alone: they would blank out ordinary words. `hide` gives what stands in
 * the place of each one; `[redacted]` by default.
 */
export function createRedaction(secrets: readonly string[], hide: (secret: string) => string = () => mask): Redaction {
  const values = [...new Set(secrets.filter((secret) => secret.length >= 6).flatMap(formsOf))];
  const longestFirst = values.sort((left, right) => right.length - left.length);
  return (text) => {
    let clean = text;
    for (const value of longestFirst) clean = clean.replaceAll(value, hide);
    for (const pattern of patterns) {
      clean = clean.replace(pattern, (found, kept: string) => kept + hide(found.slice(kept.length)));
    }
    return clean;
  };
}

function formsOf(secret: string): string[] {
  // By way of UTF-8, since a lone surrogate has no encoding.
  const encoded = encodeURIComponent(Buffer.from(secret).toString());
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encoded, encoded.replaceAll("%20", "+")];
  // Within a longer text, as in Basic authentication, base64 shifts by one or two bytes; the middle is all that stays the same.
  const shifted = [0, 1, 2].flatMap((shift) => {
    const base64 = Buffer.from("\0".repeat(shift) + secret)
      .toString("base64")
      .replace(/=+$/, "");
    const core = base64.slice(
      shift === 0 ? 0 : shift + 1,
      (Buffer.byteLength(secret) + shift) % 3 === 0 ? undefined : -1,
    );
    return core.length < 8 ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [...plain, ...shifted];
}
