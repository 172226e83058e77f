import { isAbsolute, join } from "node:path";
import { StoreOpenError } from "./errors.js";
import type { Store } from "./port.js";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/open.js";
import { openSqliteReader, type StoreReader } from "./sqlite/reader.js";

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
  return openSqliteStore({ ...options, file: storeFile({ url, dataDir }) });
}

/** Opens the store for reading only, beside a server that may be using it. Rejects with StoreOpenError. */
export async function openStoreReader(options: Pick<StoreOptions, "url" | "dataDir">): Promise<StoreReader> {
  return openSqliteReader(storeFile(options));
}

/** The absolute path of the database file. Throws StoreOpenError `unsupported` for a URL of another kind. */
export function storeFile({ url, dataDir }: Pick<StoreOptions, "url" | "dataDir">): string {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  const rest = url.slice((scheme?.length ?? 0) + 1).replace(/^\/\/(?=\/|[^/])/, "");
  if (scheme !== "sqlite" || rest === "") {
    throw new StoreOpenError(
      "unsupported",
      `store.url must look like sqlite:keyturn.db; this version has no store for ${scheme === undefined ? "that" : `${scheme}:`}`,
    );
  }
  return isAbsolute(rest) ? rest : join(dataDir, rest);
}
