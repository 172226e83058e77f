import { EnvelopeReader } from "@keyturn/protocol/codec";
import { describe, expect, test } from "vitest";
import { EnvelopeWriter } from "./envelope-writer.js";
import type { Exchange } from "./exchange.js";

/** A connection that takes what it is given and has room when the test says so. */
function connection() {
  const chunks: Uint8Array[] = [];
  let full = false;
  let drain = () => {};
  const exchange = {
    write: (chunk: Uint8Array) => {
      chunks.push(chunk);
      return !full;
    },
    roomAgain: () => new Promise<void>((resolve) => (drain = resolve)),
    end: (chunk?: Uint8Array) => void chunks.push(chunk ?? new Uint8Array()),
  } as unknown as Exchange;
  return {
    writer: new EnvelopeWriter(exchange, 1_000),
    chunks,
    setFull: (value: boolean) => (full = value),
    drain: () => drain(),
  };
}

const bodies = (chunks: readonly Uint8Array[]) => {
  const reader = new EnvelopeReader(1 << 20);
  return chunks.flatMap((chunk) => reader.push(chunk)).map(({ flags, body }) => [flags, [...body]]);
};
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("envelopes", () => {
  test("messages of one tick share a chunk", async () => {
    const { writer, chunks } = connection();
    for (const byte of [1, 2, 3]) await writer.write(Uint8Array.of(byte));
    await writer.write(new Uint8Array());
    await tick();
    expect(chunks).toHaveLength(1);
    expect(bodies(chunks)).toEqual([
      [0, [1]],
      [0, [2]],
      [0, [3]],
      [0, []],
    ]);
  });

  test("a large message goes out at once", () => {
    const { writer, chunks } = connection();
    void writer.write(new Uint8Array(100_000));
    expect(chunks.map(({ length }) => length)).toEqual([100_005]);
  });

  test("a reader without room makes the next write wait (I-18)", async () => {
    const { writer, chunks, setFull, drain } = connection();
    setFull(true);
    void writer.write(Uint8Array.of(1));
    await tick();
    let went = false;
    const waiting = Promise.resolve(writer.write(Uint8Array.of(2))).then(() => (went = true));
    await tick();
    expect([went, chunks.length]).toEqual([false, 2]);
    setFull(false);
    drain();
    await waiting;
    expect(writer.write(Uint8Array.of(3))).toBeUndefined();
  });

  test("the end comes after everything that was written", () => {
    const { writer, chunks } = connection();
    void writer.write(Uint8Array.of(1));
    writer.end(Uint8Array.of(2, 0, 0, 0, 2, 0x7b, 0x7d));
    expect(bodies(chunks)).toEqual([
      [0, [1]],
      [2, [0x7b, 0x7d]],
    ]);
  });
});
