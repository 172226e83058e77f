import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoreOpenError } from "./errors.js";
import { openStore } from "./open.js";
import { loadSqlite } from "./sqlite/database.js";
import { migrate } from "./sqlite/migrate.js";

describe("openStore", () => {
  let folder: string;
  let dataDir: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "keyturn-open-"));
    dataDir = join(folder, "data");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const open = (url = "sqlite:keyturn.db") => openStore({ url, dataDir });

  async function refusal(opening: Promise<unknown>): Promise<Pick<StoreOpenError, "code" | "message">> {
    const error = await opening.then(
      () => undefined,
      (reason: StoreOpenError) => reason,
    );
    return { code: error?.code as StoreOpenError["code"], message: (error?.message ?? "").replaceAll(folder, "") };
  }

  async function raw(sql: string): Promise<void> {
    const database = (await loadSqlite())(join(dataDir, "keyturn.db"));
    database.exec(sql);
    database.close();
  }

  it("creates folder and files for their owner only", async () => {
    const store = await open();
    await store.log.open({ requestId: "r", generation: 0 }, 1);
    expect(await store.sizeBytes()).toBeGreaterThan(4096);
    const modes = await Promise.all(
      (await readdir(dataDir)).map(async (name) => ((await stat(join(dataDir, name))).mode & 0o777).toString(8)),
    );
    expect(new Set(modes)).toEqual(new Set(["600"]));
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    await store.close();
    // The driver may leave the side file behind, but nothing of the store is in it: a copy of keyturn.db is a backup.
    const left = await stat(join(dataDir, "keyturn.db-wal")).catch(() => ({ size: 0 }));
    expect(left.size).toBe(0);
  });

  it("lets one server at a time in, and the next one after it (I-34)", async () => {
    const first = await open();
    expect(await refusal(open())).toEqual({
      code: "in-use",
      message: "another Keyturn server is using /data/keyturn.db; stop it, or start this one with another --data-dir",
    });
    await first.close();
    const second = await open();
    await second.close();
  });

  it("refuses the file of a newer version, and leaves it alone", async () => {
    await (await open()).close();
    await raw("PRAGMA user_version = 99");
    expect(await refusal(open())).toEqual({
      code: "newer-schema",
      message:
        "/data/keyturn.db was written by a newer Keyturn (schema 99, this one knows 1); upgrade Keyturn or use another data folder",
    });
    await raw("PRAGMA user_version = 1");
    await (await open()).close();
  });

  it("refuses files of other programs", async () => {
    await (await open("sqlite:other.db")).close();
    await raw("CREATE TABLE mine (x)");
    expect((await refusal(open())).code).toBe("not-a-store");
    await writeFile(
      join(dataDir, "text.db"),
      "not a database, just some text that is long enough to be looked at".repeat(20),
    );
    expect((await refusal(open("sqlite:text.db"))).code).toBe("not-a-store");
  });

  it("takes absolute paths and refuses unknown schemes without repeating the URL", async () => {
    await (await open(`sqlite:${join(folder, "elsewhere.db")}`)).close();
    await (await open("sqlite://relative.db")).close();
    expect(await readdir(dataDir)).toContain("relative.db");
    expect(await refusal(open("postgres://user:secret@host/db"))).toEqual({
      code: "unsupported",
      message: "store.url must look like sqlite:keyturn.db; this version has no store for postgres:",
    });
    expect((await refusal(open("keyturn.db"))).code).toBe("unsupported");
  });

  it("applies migrations one by one and takes a failing one back", async () => {
    const database = (await loadSqlite())(":memory:");
    const first = { version: 1, sql: "CREATE TABLE a (x)" };
    migrate(database, "f", [first]);
    const broken = { version: 2, sql: "CREATE TABLE b (x); CREATE TABLE a (x)" };
    expect(() => migrate(database, "f", [first, broken])).toThrow("already exists");
    expect(database.get("SELECT count(*) AS count FROM sqlite_schema")?.count).toBe(1);
    migrate(database, "f", [first, { version: 2, sql: "CREATE TABLE b (x)" }]);
    expect(database.get("PRAGMA user_version")?.user_version).toBe(2);
  });
});
