import { Buffer } from "node:buffer";

/** Replaces secrets in a text. */
export type Redaction = (text: string) => string;

const mask = "[redacted]";

/**
 * Shapes of secrets that no configuration names: of other people's keys, and of keys in what a provider echoes.
 * None matches a quote or a backslash, so that a JSON line stays one.
 */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)(\s+|%20)[\w.~+/=%-]{8,}/gi, `$1 ${mask}`],
  [
    /((?:x-goog-api-key|x-api-key|api-key|authorization|cookie)\\?["']?\s*[:=]\s*\\?["']?)(?!\[redacted\]|(?:Bearer|Basic)\b)[^\s"'\\,;}]+/gi,
    `$1${mask}`,
  ],
  [/([?&](?:key|api[-_]?key|access[-_]?token|token|sig|signature)=)[^&\s"'\\<>#]+/gi, `$1${mask}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'\\<>]*:)[^\s/@"'\\<>]+@/gi, `$1${mask}@`],
  [/\b(?:sk|rk|pk|gsk|xai|kta?)[-_][\w-]{12,}/g, mask],
  [/\bAIza[\w-]{20,}/g, mask],
];

/**
 * Redacts every form of the secrets (as it is, in JSON, URL-encoded, base64 in any alignment) and the common shapes of keys (I-143).
 * Secrets of fewer than 6 characters are left alone: they would blank out ordinary words.
 */
export function createRedaction(secrets: readonly string[]): Redaction {
  const values = [...new Set(secrets.filter((secret) => secret.length >= 6).flatMap(formsOf))];
  const longestFirst = values.sort((left, right) => right.length - left.length);
  return (text) => {
    let clean = text;
    for (const value of longestFirst) clean = clean.replaceAll(value, mask);
    for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
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
