/** Response headers by lower-case name. */
export type HeaderMap = Readonly<Record<string, string | undefined>>;

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, `Retry-After` in seconds or as an HTTP
 * date, `x-ratelimit-reset-*`, or a hint in the body such as Google's `"retryDelay": "13s"` (I-115).
 * Undefined when it says nothing usable; never negative.
 */
export function readRetryAfter(headers: HeaderMap, body: string, nowMs: number): number | undefined {
  const milliseconds = positive(headers["retry-after-ms"]);
  if (milliseconds !== undefined) return milliseconds;
  const header = headers["retry-after"];
  if (header !== undefined) {
    const seconds = positive(header);
    if (seconds !== undefined) return seconds * 1_000;
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - nowMs);
  }
  return readResetHeaders(headers) ?? readBodyHint(body);
}

function positive(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

// Only the exhausted budget counts: the others reset later without having refused anything.
function readResetHeaders(headers: HeaderMap): number | undefined {
  let longest: number | undefined;
  for (const kind of ["requests", "tokens"]) {
    if (headers[`x-ratelimit-remaining-${kind}`] !== "0") continue;
    const wait = readDuration(headers[`x-ratelimit-reset-${kind}`] ?? "");
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}

function readBodyHint(body: string): number | undefined {
  const delay = /"retryDelay"\s*:\s*"([\d.]+s)"/.exec(body)?.[1] ?? /try again in ([\d.]+\s?m?s)\b/i.exec(body)?.[1];
  return delay === undefined ? undefined : readDuration(delay.replace(/\s/g, ""));
}

/** Reads durations such as "1m30s", "6ms", "20s" or a bare number of seconds. */
function readDuration(text: string): number | undefined {
  const seconds = positive(text);
  if (seconds !== undefined) return seconds * 1_000;
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?$/.exec(text);
  if (!match || text === "") return undefined;
  const [, hours = "0", minutes = "0", secondsPart = "0", milliseconds = "0"] = match;
  return Math.ceil(
    Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(secondsPart) * 1_000 + Number(milliseconds),
  );
}
