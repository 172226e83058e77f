/** What a statement takes and gives. */
export type SqlValue = null | number | string | Uint8Array;

/** One row, by column name. */
export type SqlRow = Record<string, SqlValue>;

/** A prepared statement; the part of node:sqlite's that we use. */
export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

interface Driver {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** How a connection is opened. */
export interface ConnectionOptions {
  /** Nothing can be written, and nothing is created. */
  readonly readOnly?: boolean;
}

type DriverModule = { DatabaseSync: new (file: string, options?: ConnectionOptions) => Driver };

/** A connection that prepares each statement once: throw-away statements cost memory. */
export class Database {
  readonly #driver: Driver;
  readonly #statements = new Map<string, Statement>();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Runs SQL that gives no rows. */
  exec(sql: string): void {
    this.#driver.exec(sql);
  }

  /** Runs a statement; returns the number of changed rows. */
  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** The first row, or undefined. */
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#statement(sql).get(...values) as SqlRow | undefined;
  }

  /** All rows. */
  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#statement(sql).all(...values) as SqlRow[];
  }

  /** Closes the connection. */
  close(): void {
    this.#statements.clear();
    this.#driver.close();
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#driver.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Opens a connection to a file; throws what the driver throws. */
export type OpenDatabase = (file: string, options?: ConnectionOptions) => Database;

/** Node's own SQLite where it needs no flag (Node >= 22.13), else the package of the same API. */
export async function loadSqlite(): Promise<OpenDatabase> {
  const driver = builtInDriver() ?? ((await import("@photostructure/sqlite")) as DriverModule);
  return (file, options = {}) => new Database(new driver.DatabaseSync(file, options));
}

function builtInDriver(): DriverModule | undefined {
  const host = process as { getBuiltinModule?: (id: string) => unknown };
  // Loading it prints an experimental warning, which would be the first thing a person sees of the server.
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return host.getBuiltinModule?.("node:sqlite") as DriverModule | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
