import { createRedaction, type Redaction } from "../telemetry/redact.js";

/** Replaces secrets in texts that people or logs will see (I-143). */
export type Redact = Redaction;

/** A query of a URL may hold a key (Gemini's `?key=`), and so may its user part: neither is ever shown. */
const urlQuery = /(https?:\/\/[^\s"'<>?#]+)[?#][^\s"'<>]*/gi;
const urlUser = /(https?:\/\/)[^\s/@"'<>]+@/gi;

/** Redacts every form of the secrets and the common shapes of keys, and takes queries and users out of URLs. */
export function createRedact(secrets: readonly (string | undefined)[]): Redact {
  const redaction = createRedaction(secrets.filter((secret) => secret !== undefined));
  return (text) => redaction(text).replace(urlQuery, "$1").replace(urlUser, "$1");
}
