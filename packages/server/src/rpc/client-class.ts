import { Code, ConnectError } from "@connectrpc/connect";
import type { RunOptions } from "../run/records.js";
import type { Exchange } from "./exchange.js";

/** How one class of clients is treated; the first rule whose headers all match counts. */
export interface ClassRule {
  /** Lower-case header names and the patterns their values must match, `*` standing for anything. */
  readonly headers: Readonly<Record<string, string>>;
  readonly onDisconnect: "cancel" | "continue";
  readonly disconnectGraceMs: number;
  readonly contentType: "connect" | "event-stream";
}

/** What is decided by a request's headers alone. */
export interface ClientClass {
  readonly options: RunOptions;
  /** The content type of its streams (T3). */
  readonly streamType: string;
}

/** Tells the class of the client that sent a request. Throws ConnectError for a header of ours with a bad value. */
export type Classify = (exchange: Exchange) => ClientClass;

const streamTypes = { connect: "application/connect+proto", "event-stream": "text/event-stream" } as const;

/**
 * Builds the classifier. `keyturn-on-disconnect: continue` lets a run go on for as long as a run may take at all,
 * `cancel` ends it as soon as nobody reads it; both win over the rules.
 */
export function createClassifier(rules: readonly ClassRule[], defaults: RunOptions): Classify {
  const compiled = rules.map((rule) => ({ rule, matches: matcher(rule.headers) }));
  return (exchange) => {
    const rule = compiled.find(({ matches }) => matches(exchange))?.rule;
    return {
      options: { ...defaults, disconnectGraceMs: graceMs(exchange, rule, defaults) },
      streamType: streamTypes[rule?.contentType ?? "connect"],
    };
  };
}

function graceMs(exchange: Exchange, rule: ClassRule | undefined, defaults: RunOptions): number {
  const wish = exchange.header("keyturn-on-disconnect")?.toLowerCase();
  if (wish === "cancel") return 0;
  if (wish === "continue") return defaults.totalMs;
  if (wish !== undefined) {
    throw new ConnectError("keyturn-on-disconnect must be continue or cancel", Code.InvalidArgument);
  }
  if (rule === undefined) return defaults.disconnectGraceMs;
  return rule.onDisconnect === "continue" ? defaults.totalMs : rule.disconnectGraceMs;
}

function matcher(headers: Readonly<Record<string, string>>): (exchange: Exchange) => boolean {
  const patterns = Object.entries(headers).map(([name, pattern]) => {
    const literal = pattern.split("*").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return [name.toLowerCase(), new RegExp(`^${literal.join(".*")}$`, "i")] as const;
  });
  return (exchange) => patterns.every(([name, pattern]) => pattern.test(exchange.header(name) ?? ""));
}
