import { codeToString } from "@connectrpc/connect/protocol-connect";
import { codeOfFault } from "../rpc/errors.js";
import type { Exchange } from "../rpc/exchange.js";
import type { FaultCode } from "../run/faults.js";
import type { KeyIdentity } from "./api-keys.js";

/** Answers a request of a plain HTTP route. `caller` is undefined on open routes only; `id` is the `:id` of the path. */
export type Route = (exchange: Exchange, context: RouteContext) => void | Promise<void>;

/** What a route knows beside the request. */
export interface RouteContext {
  readonly caller: KeyIdentity | undefined;
  /** The decoded `:id` of the path; "" for a path without one. */
  readonly id: string;
}

/** Routes by method and path, such as `GET /v1/me` and `POST /api/v1/runs/:id/cancel`. */
export type Routes = Readonly<Record<string, Route>>;

/** A route that fits a request, or what is wrong with the request. */
export type Match = { readonly route: Route; readonly id: string } | { readonly allow: string[] } | undefined;

/** Compiles the routes. The matcher gives `allow` for a known path with another method, undefined for an unknown path. */
export function createMatcher(routes: Routes): (method: string, path: string) => Match {
  const compiled = Object.entries(routes).map(([name, route]) => {
    const [method = "", pattern = ""] = name.split(" ");
    return { method, route, pattern: new RegExp(`^${pattern.replace(":id", "([^/]+)")}$`) };
  });
  return (method, path) => {
    const fitting = compiled.flatMap(({ pattern, ...rest }) => {
      const found = pattern.exec(path);
      return found ? [{ ...rest, id: decodeURIComponent(found[1] ?? "") }] : [];
    });
    const exact = fitting.find((one) => one.method === method || (method === "HEAD" && one.method === "GET"));
    if (exact) return exact;
    return fitting.length > 0 ? { allow: fitting.map((one) => one.method) } : undefined;
  };
}

/** The JSON body of an error outside of the procedures, as the clients' REST calls read it. */
export function errorBody(code: FaultCode, message: string): object {
  return { error: { code: codeToString(codeOfFault[code]), message } };
}
