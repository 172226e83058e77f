// @ts-check
// A fake model vendor in a process of its own: OpenAI-compatible chat completions as a stream of tiny deltas.
// The model's name says what it does: `burst-<tokens>` as fast as the socket takes, `paced-<tokens>-<per second>`,
// `silent` answers with its headers and then says nothing.
import { createServer } from "node:http";
import { sayPort } from "./lib/say-port.mjs";
import { tokenText } from "./lib/token.mjs";

/** Tokens handed to the socket at once. */
const batch = 64;

/** @param {unknown} delta @param {string | null} finish */
function event(delta, finish = null) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_700_000_000, model: "bench" };
  return `data: ${JSON.stringify({ ...head, system_fingerprint: "fp_bench", choices })}\n\n`;
}

const opening = event({ role: "assistant", content: "" });
const token = event({ content: tokenText });
const tokens = Buffer.from(token.repeat(batch));
const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
const closing = `${event({}, "stop")}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;

let open = 0;

/** @param {import("node:http").ServerResponse} response @param {number} count */
function burst(response, count) {
  let left = count;
  const more = () => {
    while (left > 0) {
      const size = Math.min(batch, left);
      left -= size;
      if (!response.write(size === batch ? tokens : token.repeat(size))) return void response.once("drain", more);
    }
    response.end(closing);
  };
  more();
}

/** @param {import("node:http").ServerResponse} response @param {number} count @param {number} perSecond */
function paced(response, count, perSecond) {
  let sent = 0;
  const next = () => {
    response.write(token);
    sent += 1;
    if (sent < count) return;
    clearInterval(timer);
    response.end(closing);
  };
  const timer = setInterval(next, 1000 / perSecond);
  response.on("close", () => clearInterval(timer));
  next();
}

const server = createServer((request, response) => {
  if (request.method === "GET") return void response.end(JSON.stringify({ open }));
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (text) => (body += text));
  request.on("end", () => {
    const [kind, count, perSecond] = String(JSON.parse(body).model).split("-");
    open += 1;
    response.on("close", () => (open -= 1));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(opening);
    if (kind === "burst") burst(response, Number(count));
    if (kind === "paced") paced(response, Number(count), Number(perSecond));
  });
});
server.keepAliveTimeout = 60_000;
sayPort(server);
