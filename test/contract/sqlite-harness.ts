import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunKey } from "../../packages/server/src/run/ids.js";
import type { Store } from "../../packages/server/src/store/port.js";
import { type Database, loadSqlite } from "../../packages/server/src/store/sqlite/database.js";
import { openSqliteStore, type SqliteStoreOptions } from "../../packages/server/src/store/sqlite/open.js";
import type { StoreHarness } from "./log-store.js";

/** A store in a folder of its own under the system's temporary one. */
export interface SqliteHarness extends StoreHarness {
  readonly file: string;
  open(options?: Omit<SqliteStoreOptions, "file">): Promise<Store>;
}

/** Makes the folder; nothing is opened yet. */
export async function sqliteHarness(): Promise<SqliteHarness> {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-store-"));
  const file = join(folder, "data", "keyturn.db");
  const openRaw = await loadSqlite();
  const opened: Store[] = [];

  function behindItsBack(act: (database: Database) => number): void {
    const database = openRaw(file);
    try {
      if (act(database) !== 1) throw new Error("nothing was changed");
    } finally {
      database.close();
    }
  }

  const where = "run = (SELECT id FROM runs WHERE request_id = ? AND generation = ?) AND position = ?";
  const whereValues = (key: RunKey, position: number) => [key.requestId, key.generation, position] as const;

  return {
    file,
    open: async (options) => {
      const store = await openSqliteStore({ ...options, file });
      opened.push(store);
      return store;
    },
    damage: async (key, position, column) =>
      behindItsBack((database) => {
        const flipped = column === "body" ? "replace(body, 'record', 'recorD')" : "zeroblob(3)";
        return database.run(`UPDATE records SET ${column} = ${flipped} WHERE ${where}`, ...whereValues(key, position));
      }),
    lose: async (key, position) =>
      behindItsBack((database) => database.run(`DELETE FROM records WHERE ${where}`, ...whereValues(key, position))),
    damageBlob: async (id) =>
      behindItsBack((database) => database.run("UPDATE blobs SET bytes = x'00' WHERE id = ?", Buffer.from(id, "hex"))),
    remove: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
