import type { Exchange } from "./exchange.js";

/** The call came with a content type that it does not take: HTTP 415, before anything is read or done. */
export class UnsupportedMediaType extends Error {
  readonly accepted: readonly string[];

  constructor(accepted: readonly string[]) {
    super(`the content type must be ${accepted.join(" or ")}`);
    this.name = "UnsupportedMediaType";
    this.accepted = accepted;
  }
}

/**
 * Lets only the named content types pass: the ones a web page can send without asking are never among them (I-140).
 *
 * @throws {UnsupportedMediaType}
 */
export function requireContentType(exchange: Exchange, ...accepted: readonly string[]): void {
  if (!accepted.includes(exchange.contentType)) throw new UnsupportedMediaType(accepted);
}
