// Loaded before the driver: reports what a good server must never cause (unhandled rejections, uncaught exceptions), which
// transport is used, and refuses every connection that is not to the loopback.
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { emit } from "./emit.mjs";

process.on("unhandledRejection", (reason) =>
  emit({ event: "fault", kind: "unhandled-rejection", text: textOf(reason) }),
);
process.on("uncaughtException", (error) => emit({ event: "fault", kind: "uncaught-exception", text: textOf(error) }));

const connectSocket = net.Socket.prototype.connect;
net.Socket.prototype.connect = function connect(...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  const host = typeof options === "object" ? options.host : typeof args[1] === "string" ? args[1] : undefined;
  const isPipe = typeof options === "object" ? options.path : typeof options === "string";
  if (isPipe || host === undefined || /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) {
    return connectSocket.apply(this, args);
  }
  emit({ event: "fault", kind: "foreign-connection", text: host });
  process.nextTick(() => this.destroy(new Error(`Only the loopback may be reached, not ${host}`)));
  return this;
};

const connectSession = http2.connect;
http2.connect = function connect(authority, ...rest) {
  emit({ event: "http2-session", authority: String(authority) });
  return connectSession.call(this, authority, ...rest);
};
syncBuiltinESMExports();

function textOf(error) {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
