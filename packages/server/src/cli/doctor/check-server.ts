import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { BidiRequestIdSchema } from "@keyturn/protocol/agent";
import { encodeEnvelope } from "@keyturn/protocol/codec";
import { type Finding, healthy, problem } from "./finding.js";

/** A server's answer to a health check takes less than that. */
const answerMs = 5_000;
/** What a stream's first byte may take beyond the heartbeat's interval. */
const delayMs = 2_000;

/** Whether a server answers at an address; `expected` says that one should. */
export async function checkServer(url: string, expected: boolean): Promise<Finding> {
  const startedAt = performance.now();
  try {
    const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(answerMs) });
    const text = (await response.text()).trim().slice(0, 200);
    const tookMs = Math.round(performance.now() - startedAt);
    if (response.ok && text === "ready") return healthy("server", `${url} is ready, answered in ${tookMs} ms`);
    return problem(
      "server",
      `${url} answered HTTP ${response.status}: ${text}`,
      "see the server's log, or what answers there in its place",
    );
  } catch (error) {
    if (!expected) return healthy("server", `none is running at ${url}`);
    const next = "check address and port (server.host, server.port, a proxy in front), and the server's log";
    return problem("server", `${url} does not answer: ${wordsOf(error)}`, next);
  }
}

/**
 * Whether a stream's bytes come through as they are written: opens one for a run that nobody starts and waits for its
 * first heartbeat. The server notes such a run as failed after a minute.
 */
export async function checkStream(url: string, apiKey: string | undefined, heartbeatMs: number): Promise<Finding> {
  if (apiKey === undefined) return healthy("stream", "not measured: give an API key with --api-key or KEYTURN_API_KEY");
  const gone = new AbortController();
  const timer = setTimeout(() => gone.abort(new Error("nothing came in time")), heartbeatMs + delayMs);
  const startedAt = performance.now();
  try {
    const requestId = `doctor-${randomUUID()}`;
    const response = await fetch(new URL("/agent.v1.AgentService/RunSSE", url), {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/connect+proto" },
      body: new Uint8Array(
        encodeEnvelope(0, toBinary(BidiRequestIdSchema, create(BidiRequestIdSchema, { requestId }))),
      ),
      signal: gone.signal,
    });
    const headersMs = Math.round(performance.now() - startedAt);
    if (!response.ok || !response.body) {
      return problem(
        "stream",
        `${url} refused a stream with HTTP ${response.status}`,
        refusalSteps[response.status] ?? "see the server's log",
      );
    }
    await response.body.getReader().read();
    const firstMs = Math.round(performance.now() - startedAt);
    return healthy(
      "stream",
      `headers after ${headersMs} ms, the first heartbeat after ${firstMs} ms (due after ${heartbeatMs})`,
    );
  } catch (error) {
    const next =
      "something between holds the stream back: switch off buffering and compression for /agent.v1.AgentService/";
    return problem("stream", `no byte of a stream came through ${url}: ${wordsOf(error)}`, next);
  } finally {
    clearTimeout(timer);
    gone.abort();
  }
}

const refusalSteps: Readonly<Record<number, string>> = {
  401: "give a good API key (keyturn keys create)",
  403: "add the address to server.allowedHosts",
  404: "the address leads to something else; check the proxy's path",
};

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
