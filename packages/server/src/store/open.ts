import { isAbsolute, join } from "node:path";
import { StoreOpenError } from "./errors.js";
import type { Store } from "./port.js";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/open.js";

/** What a store is opened from. */
export interface StoreOptions extends Omit<SqliteStoreOptions, "file"> {
  /** `sqlite:<file>`, relative to the data folder. */
  readonly url: string;
  readonly dataDir: string;
}

/**
 * Opens the store that the URL names.
 * Rejects with StoreOpenError, whose message never repeats the URL: it may hold a password.
 */
export async function openStore({ url, dataDir, ...options }: StoreOptions): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  const rest = url.slice((scheme?.length ?? 0) + 1).replace(/^\/\/(?=\/|[^/])/, "");
  if (scheme !== "sqlite" || rest === "") {
    throw new StoreOpenError(
      "unsupported",
      `store.url must look like sqlite:keyturn.db; this version has no store for ${scheme === undefined ? "that" : `${scheme}:`}`,
    );
  }
  return openSqliteStore({ ...options, file: isAbsolute(rest) ? rest : join(dataDir, rest) });
}
