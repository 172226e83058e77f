import type { FetchArgs } from "@keyturn/protocol/agent";
import { messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import { limits } from "./limits.js";

interface Page {
  readonly content: string;
  readonly statusCode: number;
  readonly contentType: string;
}

/** Gets an address and returns the text, whatever the status. Only http and https; every redirect is judged anew. */
export async function executeFetch(args: FetchArgs, call: Call, context: ExecutorContext): Promise<void> {
  const fail = (error: string) =>
    call.answer({ case: "fetchResult", value: { result: { case: "error", value: { url: args.url, error } } } });
  const time = AbortSignal.timeout(limits.fetchTimeoutMs);
  try {
    const page = await get(args, AbortSignal.any([call.signal, time]), context);
    call.answer({ case: "fetchResult", value: { result: { case: "success", value: { url: args.url, ...page } } } });
  } catch (cause) {
    call.signal.throwIfAborted();
    fail(time.aborted ? `no answer within ${limits.fetchTimeoutMs} ms` : wordsOf(cause));
  }
}

async function get(args: FetchArgs, signal: AbortSignal, context: ExecutorContext): Promise<Page> {
  let url = args.url;
  for (let hop = 0; hop <= limits.fetchRedirects; hop++) {
    if (!/^https?:$/.test(protocolOf(url))) throw new Error(`${url} is no http or https address`);
    const hook = { toolName: "Fetch", input: { url }, toolCallId: args.toolCallId };
    const refusal = await context.gate.refusal({ tool: "fetch", url, hook });
    if (refusal !== null) throw new Error(refusal);
    const response = await fetch(url, { redirect: "manual", signal, headers: { "user-agent": "keyturn" } });
    const target = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (target === null) return pageOf(response);
    await response.body?.cancel();
    url = new URL(target, url).href;
  }
  throw new Error(`more than ${limits.fetchRedirects} redirects`);
}

async function pageOf(response: Response): Promise<Page> {
  const contentType = response.headers.get("content-type") ?? "";
  if (/^(?:image|audio|video|font)\/|^application\/(?:octet-stream|zip|gzip|pdf|wasm)/i.test(contentType)) {
    await response.body?.cancel();
    throw new Error(`the answer is no text (${contentType})`);
  }
  const { bytes, cut } = await bounded(response);
  const content = decoderFor(contentType).decode(bytes, { stream: cut });
  const notice = cut ? `\n[truncated: only the first ${limits.fetchBytes} bytes are shown]` : "";
  return { content: content + notice, statusCode: response.status, contentType };
}

async function bounded(response: Response): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop cancels the download.
    if (length > limits.fetchBytes) return { bytes: Buffer.concat(chunks).subarray(0, limits.fetchBytes), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

function decoderFor(contentType: string): InstanceType<typeof TextDecoder> {
  const charset = /charset="?([^";\s]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** The built-in client hides what happened in the cause. */
function wordsOf(cause: unknown): string {
  const inner = cause instanceof Error ? cause.cause : undefined;
  return inner instanceof Error ? `${messageOf(cause)}: ${inner.message}` : messageOf(cause);
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}
