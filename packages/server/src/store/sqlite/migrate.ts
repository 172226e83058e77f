import { StoreOpenError } from "../errors.js";
import type { Database } from "./database.js";
import { migrations } from "./migrations/index.js";
import type { Migration } from "./migrations/migration.js";

/** The schema version that this Keyturn writes. */
export const newestSchema = migrations.at(-1)?.version ?? 0;

/** Marks a database file as ours ("KEYT"), so that another program's file is never migrated. */
const applicationId = 0x4b455954;

/**
 * Brings the schema up to date, one transaction a migration.
 * Throws StoreOpenError `newer-schema` for a file that a newer Keyturn wrote, `not-a-store` for another program's.
 */
export function migrate(database: Database, file: string, steps: readonly Migration[] = migrations): void {
  const version = schemaVersion(database, file, steps);
  for (const step of steps) {
    if (step.version <= version) continue;
    database.exec("BEGIN IMMEDIATE");
    try {
      database.exec(step.sql);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${step.version}`);
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  }
}

/**
 * The schema version of a file that is ours or still empty.
 * Throws StoreOpenError `newer-schema` and `not-a-store` as `migrate` does; changes nothing.
 */
export function schemaVersion(database: Database, file: string, steps: readonly Migration[] = migrations): number {
  const newest = steps.at(-1)?.version ?? 0;
  const version = pragma(database, "user_version");
  const owner = pragma(database, "application_id");
  const tables = Number(database.get("SELECT count(*) AS tables FROM sqlite_schema")?.tables);
  if (owner !== applicationId && (owner !== 0 || version !== 0 || tables > 0)) {
    throw new StoreOpenError("not-a-store", `${file} is a database of another program; name another file in store.url`);
  }
  if (version > newest) {
    throw new StoreOpenError(
      "newer-schema",
      `${file} was written by a newer Keyturn (schema ${version}, this one knows ${newest}); upgrade Keyturn or use another data folder`,
    );
  }
  return version;
}

function pragma(database: Database, name: "user_version" | "application_id"): number {
  return Number(database.get(`PRAGMA ${name}`)?.[name]);
}
