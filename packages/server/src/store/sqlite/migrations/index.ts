import { initial } from "./0001-initial.js";
import type { Migration } from "./migration.js";

/** All migrations in order. */
export const migrations: readonly Migration[] = [initial];
