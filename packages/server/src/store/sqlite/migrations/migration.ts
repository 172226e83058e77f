/** One step of the schema. A released migration is never edited; the next one follows. */
export interface Migration {
  /** The schema version after it; they count up from 1. */
  readonly version: number;
  readonly sql: string;
}
