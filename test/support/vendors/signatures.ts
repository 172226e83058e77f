import { createHash } from "node:crypto";

/** The signature a fake vendor puts on content of one of its models; any changed byte gives another one. */
export function signatureOf(model: unknown, content: string): string {
  return `sig_${createHash("sha256")
    .update(`${String(model)}\n${content}`)
    .digest("base64url")}`;
}
