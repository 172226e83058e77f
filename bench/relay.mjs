// @ts-check
// The bare relay, our floor: about the smallest Node program that turns the vendor's stream into Connect frames.
// No log, no runs, no checks. Called with the vendor's port; the path names the model.
import { request as call, createServer } from "node:http";
import { encodeEnvelope, encodeServerMessage, endStreamEnvelope } from "@keyturn/protocol/codec";
import { sayPort } from "./lib/say-port.mjs";

const vendorPort = Number(process.argv[2]);

/** @param {string} text */
function frameOf(text) {
  return encodeServerMessage({
    $typeName: "agent.v1.AgentServerMessage",
    message: {
      case: "interactionUpdate",
      value: {
        $typeName: "agent.v1.InteractionUpdate",
        message: {
          case: "textDelta",
          value: { $typeName: "agent.v1.TextDeltaUpdate", text, isServerNotice: false },
        },
      },
    },
  });
}

const server = createServer((request, response) => {
  response.writeHead(200, { "content-type": "application/connect+proto" });
  const path = { port: vendorPort, path: "/v1/chat/completions", method: "POST" };
  const upstream = call(path, (answer) => {
    let rest = "";
    answer.setEncoding("utf8");
    answer.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const text = JSON.parse(line.slice(6)).choices[0]?.delta.content;
        if (text && !response.write(encodeEnvelope(0, frameOf(text)))) answer.pause();
      }
    });
    response.on("drain", () => answer.resume());
    answer.on("end", () => response.end(endStreamEnvelope()));
  });
  upstream.end(JSON.stringify({ model: request.url?.slice(1), stream: true }));
});
server.keepAliveTimeout = 60_000;
sayPort(server);
