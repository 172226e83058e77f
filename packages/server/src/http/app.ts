import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { codeOfFault, errorToWire, isExpected, unaryError } from "../rpc/errors.js";
import { Exchange, type WebRequest, type WebResponse } from "../rpc/exchange.js";
import { isProcedure, type RpcRouter } from "../rpc/router.js";
import type { createGuard, Verdict } from "./guard.js";
import { createMatcher, errorBody, type RouteContext, type Routes } from "./routes.js";

/** What the application joins. */
export interface AppServices {
  readonly guard: ReturnType<typeof createGuard>;
  readonly rpc: RpcRouter;
  readonly routes: Routes;
  /** True once the port closes: connections are not kept for another request then. */
  isClosing(): boolean;
  problem(what: string, cause: unknown): void;
}

/** Builds the one handler of all requests, of both HTTP versions. It never throws, and every request gets an answer. */
export function createApp(services: AppServices): (request: WebRequest, response: WebResponse) => void {
  const match = createMatcher(services.routes);

  const handle = async (exchange: Exchange) => {
    if (services.isClosing() && !exchange.http2) exchange.addHeaders({ connection: "close" });
    const method = exchange.request.method ?? "";
    const verdict = services.guard({ method, url: exchange.request.url ?? "", headers: exchange.headers });
    if (verdict.kind === "refused") return sendRefusal(exchange, verdict);
    if (verdict.kind === "preflight") return exchange.send(204, preflightHeaders(verdict.origin));
    if (verdict.origin !== undefined) exchange.addHeaders(originHeaders(verdict.origin));
    if (services.rpc.owns(exchange.path)) return services.rpc.handle(exchange);
    await handleRoute(exchange, method, verdict.caller);
  };

  const handleRoute = async (exchange: Exchange, method: string, caller: RouteContext["caller"]) => {
    const found = match(method, exchange.path);
    if (!found) return exchange.sendJson(404, errorBody("request/not-found", "There is nothing at this path."));
    if ("allow" in found) {
      const allow = found.allow.join(", ");
      return exchange.sendJson(405, errorBody("request/invalid", `Use ${allow} here.`), { allow });
    }
    try {
      await found.route(exchange, { caller, id: found.id });
    } catch (error) {
      if (!isExpected(error)) services.problem(`a request failed: ${method} ${exchange.path}`, error);
      const wire = errorToWire(error);
      const status = wire.code === Code.ResourceExhausted ? 413 : unaryError(wire).status;
      exchange.sendJson(status, { error: { code: codeToString(wire.code), message: wire.message } });
    }
  };

  return (request, response) => {
    const exchange = new Exchange(request, response);
    handle(exchange).catch((error: unknown) => {
      services.problem("a request could not be answered", error);
      if (!exchange.started) exchange.sendJson(500, errorBody("server/internal", "The server's log has the cause."));
      else exchange.abort();
    });
  };
}

/** Clients read Connect's form on the paths of procedures, and their REST form elsewhere. */
function sendRefusal(exchange: Exchange, { status, code, message }: Verdict & { kind: "refused" }): void {
  const body = isProcedure(exchange.path)
    ? { code: codeToString(codeOfFault[code]), message }
    : errorBody(code, message);
  exchange.sendJson(status, body, status === 401 ? { "www-authenticate": "Bearer" } : {});
}

function originHeaders(origin: string): Record<string, string> {
  return { "access-control-allow-origin": origin, vary: "Origin" };
}

function preflightHeaders(origin: string): Record<string, string> {
  return {
    ...originHeaders(origin),
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers":
      "authorization, content-type, connect-protocol-version, connect-timeout-ms, x-request-id, keyturn-position, keyturn-on-disconnect",
    "access-control-max-age": "600",
  };
}
