import { createHash } from "node:crypto";
import { openSqliteStore } from "../../packages/server/src/store/sqlite/open.js";

/**
 * Appends for ever to some runs at once, three records and a blob an append, and prints a line for each acknowledged one.
 * Started by the crash test, which kills it.
 */
async function main(file: string): Promise<void> {
  const store = await openSqliteStore({ file });
  await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const key = { requestId: `crash-${index}`, generation: 0 };
      const { lastPosition } = await store.log.open(key, 1);
      const fence = await store.log.claim(key);
      for (let position = lastPosition + 1; ; position += 3) {
        const bytes = Buffer.from(`${key.requestId} ${position} `.repeat(200));
        const id = createHash("sha256").update(bytes).digest("hex");
        const records = [position, position + 1, position + 2].map((at) => ({
          position: at,
          fence,
          at,
          kind: "crash",
          body: { blob: id },
          payload: null,
          frame: new Uint8Array(100).fill(at),
        }));
        await store.log.append({ key, fence, records, blobs: [{ id, bytes }] });
        process.stdout.write(`${key.requestId} ${position + 2}\n`);
      }
    }),
  );
}

await main(process.argv[2] as string);
