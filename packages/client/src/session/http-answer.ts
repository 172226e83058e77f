import type { IncomingMessage } from "node:http";
import { foreignAnswer, readServerError, ServerRefusal } from "./refusal.js";

/** A whole answer. */
export interface HttpAnswer {
  readonly status: number;
  /** Without parameters. */
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Words of an error are short; what is longer is a page of somebody else. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** Reads the rest of a response. */
export async function answerOf(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Uint8Array[] = [];
  let room = maxAnswerBytes;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    room -= chunk.length;
    if (room < 0) throw new Error("the answer is too long");
    chunks.push(chunk);
  }
  const contentType = response.headers["content-type"]?.split(";", 1)[0]?.trim() ?? "";
  return { status: response.statusCode ?? 0, contentType, body: Buffer.concat(chunks) };
}

/** An answer that is not what was asked for, as an error. */
export function refusalOf({ status, contentType, body }: HttpAnswer): ServerRefusal {
  const error = contentType === "application/json" ? readServerError(parsed(body)) : undefined;
  if (error) return new ServerRefusal(status, error);
  const type = contentType === "" ? "no content type" : contentType;
  return foreignAnswer(status, `The server answered HTTP ${status} with ${type}, which is not agent.v1.`);
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
