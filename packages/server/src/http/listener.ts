import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import {
  createServer as createHttp2Server,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from "node:tls";

/** How to listen. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** PEM texts; with them the port also speaks TLS, and ALPN chooses the HTTP version. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** How long a connection may take for its first byte, its TLS handshake and the head of each request. */
  readonly headersTimeoutMs?: number;
  /** Called for every request of either HTTP version. Must not throw. */
  onRequest(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void;
}

/** An open port. */
export interface Listener {
  readonly port: number;
  readonly host: string;
  /** Takes no connection any more and lets those in use finish; what is open after `withinMs` is cut. */
  close(withinMs: number): Promise<void>;
}

const defaultHeadersTimeoutMs = 10_000;
const tlsHandshakeByte = 0x16;
const http2Preface = Buffer.from("PRI");
const http2Settings = { maxConcurrentStreams: 256, initialWindowSize: 1024 * 1024 };
/** Flow control window of a whole HTTP/2 connection; the default of 64 KiB makes one large append wait for itself. */
const http2WindowBytes = 8 * 1024 * 1024;

/**
 * Opens one port for HTTP/1.1, HTTP/2 without TLS (prior knowledge) and TLS: the first bytes of a connection tell which (T5).
 * Rejects with the system's error, such as EADDRINUSE.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const headersTimeoutMs = options.headersTimeoutMs ?? defaultHeadersTimeoutMs;
  const http = openHttp(options, headersTimeoutMs);
  const sessions = new Set<ServerHttp2Session>();
  const http2 = openHttp2(options, sessions);
  const tls = options.tls && openTls(options.tls, http, http2, headersTimeoutMs);

  const sockets = new Set<Socket>();
  const front = createServer(
    { noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000, allowHalfOpen: true },
    (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      // A connection that breaks while it is nobody's must not end the process.
      socket.on("error", () => socket.destroy());
      sortConnection(socket, headersTimeoutMs, { http, http2, tls });
    },
  );
  await listen(front, options);

  let closing: Promise<void> | undefined;
  return {
    host: options.host,
    port: (front.address() as AddressInfo).port,
    close: (withinMs) => (closing ??= close(withinMs)),
  };

  async function close(withinMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => front.close(() => resolve()));
    http.close();
    for (const session of sessions) session.close();
    // Connections that become idle while the others finish.
    const sweep = setInterval(() => http.closeIdleConnections(), 50);
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, withinMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(cut);
  }
}

function openHttp(options: ListenerOptions, headersTimeoutMs: number): HttpServer {
  const http = createHttpServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(1_000, headersTimeoutMs),
    },
    options.onRequest,
  );
  // Between two requests of one connection; longer than clients keep theirs, so that we are not the first to close.
  http.keepAliveTimeout = 75_000;
  // A server that never listens itself does not watch its connections' time limits until it is told that it does.
  http.emit("listening");
  return http;
}

function openHttp2(options: ListenerOptions, sessions: Set<ServerHttp2Session>): Http2Server {
  const http2 = createHttp2Server({ settings: http2Settings, maxSessionMemory: 64 }, options.onRequest);
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
    session.setLocalWindowSize(http2WindowBytes);
  });
  http2.on("sessionError", () => {});
  return http2;
}

function openTls(
  { cert, key }: { cert: string | Buffer; key: string | Buffer },
  http: HttpServer,
  http2: Http2Server,
  handshakeTimeout: number,
): TlsServer {
  const tls = createTlsServer({ cert, key, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout });
  tls.on("secureConnection", (socket: TLSSocket) => {
    socket.on("error", () => socket.destroy());
    (socket.alpnProtocol === "h2" ? http2 : http).emit("connection", socket);
  });
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  return tls;
}

/** Looks at the first bytes of a connection and hands it, with them, to the server that speaks its protocol. */
function sortConnection(
  socket: Socket,
  patienceMs: number,
  servers: { readonly http: HttpServer; readonly http2: Http2Server; readonly tls: TlsServer | undefined },
): void {
  const timer = setTimeout(() => socket.destroy(), patienceMs);
  const done = () => {
    clearTimeout(timer);
    socket.off("readable", look);
    socket.off("end", giveUp);
    socket.off("close", done);
  };
  const giveUp = () => socket.destroy();
  let seen: Buffer = Buffer.alloc(0);
  const look = () => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const server = serverFor(seen);
    if (server === "unknown-yet") return;
    done();
    if (!server) return void socket.destroy();
    socket.unshift(seen);
    // HTTP/1.1 sees to connections that its client half closed. In HTTP/2 and TLS such a connection is dead, and nobody
    // would ever notice.
    if (server !== servers.http) socket.allowHalfOpen = false;
    server.emit("connection", socket);
  };
  const serverFor = (bytes: Buffer): HttpServer | Http2Server | TlsServer | undefined | "unknown-yet" => {
    if (bytes[0] === tlsHandshakeByte) return servers.tls;
    const length = Math.min(bytes.length, http2Preface.length);
    if (!bytes.subarray(0, length).equals(http2Preface.subarray(0, length))) return servers.http;
    return length === http2Preface.length ? servers.http2 : "unknown-yet";
  };
  socket.on("readable", look);
  socket.once("end", giveUp);
  socket.once("close", done);
}

function listen(front: Server, { host, port }: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    front.once("error", reject);
    front.listen({ host, port }, () => {
      front.off("error", reject);
      front.on("error", () => {});
      resolve();
    });
  });
}
