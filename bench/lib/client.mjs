// @ts-check
// The client of the bench, over HTTP/1.1: reads the frames of a run, answers what the server asks, keeps the time.
import { randomUUID } from "node:crypto";
import { Agent, request as call } from "node:http";
import { decodeServerMessage, encodeEnvelope, endStreamFlag } from "@keyturn/protocol/codec";
import { tokenText } from "./token.mjs";
import * as wire from "./wire.mjs";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */

/** What a run brought; times in milliseconds of `performance.now()`. */
export class RunLog {
  startedAt = performance.now();
  firstTextAt = Number.NaN;
  lastTextAt = Number.NaN;
  textBytes = 0;
  textFrames = 0;
  /** Milliseconds from the sending of an append to the end of its answer. @type {number[]} */
  acks = [];

  get tokens() {
    return this.textBytes / tokenText.length;
  }
}

/** Frames come on their own connections, appends share a few. */
const streams = new Agent({ keepAlive: true, maxSockets: 2048 });
const appends = new Agent({ keepAlive: true, maxSockets: 64 });
const heartbeatMs = 5_000;

/**
 * Runs a model through the bare relay until its stream ends.
 * @param {number} port @param {string} model
 */
export async function relayRun(port, model) {
  const log = new RunLog();
  await readFrames(post(streams, port, `/${model}`, {}, ""), log, () => undefined);
  return log;
}

/**
 * Runs a model through the server until its stream ends; `signal` lets go of a run that would not end.
 * @param {{ port: number, key: string }} server @param {string} model @param {AbortSignal} [signal]
 */
export async function serverRun({ port, key }, model, signal) {
  const log = new RunLog();
  const requestId = randomUUID();
  const headers = { authorization: `Bearer ${key}` };
  let seqno = 0;
  /** @type {Promise<void>[]} */
  const sent = [];
  /** @param {Uint8Array} message */
  const append = (message) => {
    const body = wire.appendRequest(requestId, seqno++, message);
    sent.push(
      sendAppend(post(appends, port, appendPath, { ...headers, "content-type": "application/proto" }, body), log),
    );
  };
  const subscribe = encodeEnvelope(0, wire.runSseRequest(requestId));
  const stream = post(
    streams,
    port,
    streamPath,
    { ...headers, "content-type": "application/connect+proto" },
    subscribe,
  );
  append(wire.runRequest(`bench-${requestId}`, model));
  const beat = setInterval(() => append(wire.heartbeat), heartbeatMs);
  const letGo = () => {
    clearInterval(beat);
    stream.destroy();
  };
  signal?.addEventListener("abort", letGo);
  try {
    await readFrames(stream, log, (frame) => answer(frame, append));
    await Promise.all(sent);
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    clearInterval(beat);
    signal?.removeEventListener("abort", letGo);
  }
  return log;
}

const streamPath = "/agent.v1.AgentService/RunSSE";
const appendPath = "/aiserver.v1.BidiService/BidiAppend";

/** @param {Buffer} frame @param {(message: Uint8Array) => void} append */
function answer(frame, append) {
  const { message } = decodeServerMessage(frame);
  if (message.case === "execServerMessage") {
    const { id, execId } = message.value;
    append(wire.contextResult(id, execId));
    append(wire.streamClose(id));
  }
  if (message.case === "kvServerMessage") append(wire.setBlobResult(message.value.id));
}

/**
 * @param {Agent} agent @param {number} port @param {string} path
 * @param {import("node:http").OutgoingHttpHeaders} headers @param {Uint8Array | string} body
 */
function post(agent, port, path, headers, body) {
  const request = call({ host: "127.0.0.1", port, path, method: "POST", headers, agent });
  request.setNoDelay(true);
  request.end(body);
  return request;
}

/** @param {import("node:http").ClientRequest} request @returns {Promise<IncomingMessage>} */
function responseOf(request) {
  return new Promise((resolve, reject) => request.once("response", resolve).once("error", reject));
}

/** @param {import("node:http").ClientRequest} request @param {RunLog} log */
async function sendAppend(request, log) {
  const startedAt = performance.now();
  const response = await responseOf(request);
  let body = "";
  response.setEncoding("latin1");
  for await (const text of response) body += text;
  if (response.statusCode !== 200)
    throw new Error(`an append was refused: ${response.statusCode} ${body.slice(0, 500)}`);
  log.acks.push(performance.now() - startedAt);
}

/**
 * Reads a stream of frames until its end; throws when it ends with an error or without its end.
 * @param {import("node:http").ClientRequest} request @param {RunLog} log @param {(frame: Buffer) => void} other
 */
async function readFrames(request, log, other) {
  const response = await responseOf(request);
  const scanner = new wire.EnvelopeScanner();
  let end = "";
  /** @param {number} flags @param {Buffer} frame */
  const take = (flags, frame) => {
    if (flags === endStreamFlag) return void (end = frame.toString());
    const length = wire.textLength(frame);
    if (length < 0) return other(frame);
    log.textBytes += length;
    log.textFrames += 1;
    log.lastTextAt = performance.now();
    if (Number.isNaN(log.firstTextAt)) log.firstTextAt = log.lastTextAt;
  };
  await new Promise((resolve, reject) => {
    response.on("data", (/** @type {Buffer} */ chunk) => scanner.push(chunk, take));
    response
      .once("end", resolve)
      .once("error", reject)
      .once("aborted", () => reject(new Error("a stream was cut")));
  });
  if (response.statusCode !== 200 || end !== "{}") {
    throw new Error(`a stream ended with ${response.statusCode} ${end.slice(0, 500) || "and no end frame"}`);
  }
}
