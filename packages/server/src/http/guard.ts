import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import type { FaultCode } from "../run/faults.js";
import type { KeyIdentity } from "./api-keys.js";

/** What the guard looks at: everything comes from the request's head. */
export interface GuardedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** Who may come in, and from where. */
export interface GuardRules {
  /** The address listened on; one for all addresses lets every IP address pass as Host. */
  readonly bindHost: string;
  /** Host names beside localhost, the loopback addresses and `bindHost`; ports are ignored. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may call beside the server's own. */
  readonly allowedOrigins: readonly string[];
  /** Whose key or access token it is; takes the same time for every wrong one. */
  identify(bearer: string): KeyIdentity | undefined;
  /** Whether the path is open to everybody. */
  isOpen(path: string): boolean;
}

/** What becomes of a request. */
export type Verdict =
  | { readonly kind: "pass"; readonly caller: KeyIdentity | undefined; readonly origin: string | undefined }
  /** A preflight of an allow-listed origin. */
  | { readonly kind: "preflight"; readonly origin: string }
  | {
      readonly kind: "refused";
      readonly status: 400 | 401 | 403 | 421;
      readonly code: FaultCode;
      readonly message: string;
    };

/**
 * Decides about a request before anything of it is read or done (I-140 to I-142). In this order: the URL must be well formed, the Host
 * one of ours (DNS rebinding), a preflight is refused, the key must be good, and a page of another site is refused
 * even with a good key. The content type is checked where the procedure is known.
 */
export function createGuard(rules: GuardRules): (request: GuardedRequest) => Verdict {
  const hosts = new Set(["localhost", "127.0.0.1", "::1", rules.bindHost, ...rules.allowedHosts].map(bareName));
  const anyAddress = ["0.0.0.0", "::", ""].includes(bareName(rules.bindHost));
  const origins = new Set(rules.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/+$/, "")));

  const hostIsOurs = (host: string) => {
    const name = hostName(host);
    // A name can be made to lead here by whoever owns it; an address cannot.
    return name !== undefined && (hosts.has(name) || (anyAddress && isIP(name) > 0));
  };

  return ({ method, url, headers }) => {
    if (!isWellFormed(url)) return refuse(400, "request/invalid", "The URL is malformed.");
    const host = one(headers[":authority"]) ?? headers.host ?? "";
    if (!hostIsOurs(host)) {
      return refuse(
        421,
        "request/forbidden",
        "This host name is not served. Add it to server.allowedHosts if it is yours.",
      );
    }
    const origin = headers.origin?.toLowerCase();
    const allowed = origin !== undefined && origins.has(origin);
    if (method === "OPTIONS") {
      return allowed ? { kind: "preflight", origin } : refuse(403, "request/forbidden", notFromThere);
    }
    const caller = identify(headers.authorization, rules);
    if (!caller && !rules.isOpen(pathOf(url))) {
      return refuse(
        401,
        "request/unauthenticated",
        "Send a valid API key: Authorization: Bearer kt_… (keyturn keys create makes one).",
      );
    }
    const ownOrigin =
      origin === undefined || origin === `http://${host}`.toLowerCase() || origin === `https://${host}`.toLowerCase();
    const crossSite = one(headers["sec-fetch-site"])?.toLowerCase() === "cross-site";
    if (!allowed && (!ownOrigin || crossSite)) return refuse(403, "request/forbidden", notFromThere);
    return { kind: "pass", caller, origin: allowed ? origin : undefined };
  };
}

const notFromThere =
  "Web pages of other origins may not call this server. Add the origin to server.allowedOrigins if it is yours.";

function refuse(status: 400 | 401 | 403 | 421, code: FaultCode, message: string): Verdict {
  return { kind: "refused", status, code, message };
}

function identify(authorization: string | undefined, rules: GuardRules): KeyIdentity | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  return bearer === undefined ? undefined : rules.identify(bearer);
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

/** Only a path of this server: no other server's address, nothing that cannot be decoded, nothing that climbs. */
function isWellFormed(url: string): boolean {
  if (!url.startsWith("/") || url.startsWith("//")) return false;
  try {
    const path = decodeURIComponent(pathOf(url));
    return !/[\0\\]|(^|\/)\.\.(\/|$)/.test(path);
  } catch {
    return false;
  }
}

/** The name of a Host header without port; undefined when it is none. */
function hostName(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:/?#@\s]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  const name = bracketed ?? plain;
  return name === undefined ? undefined : bareName(name);
}

function bareName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
