/** Writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row. */

/** A value of a row. Safe integers are INTEGER, other numbers REAL, a Date is text in UTC, NaN is NULL. */
export type Value = number | bigint | string | boolean | null | undefined | Date | Uint8Array;

/** A row: a value for every column, or an object with some of them by name. The others get their DEFAULT, or stay in an update. */
export type Row = readonly Value[] | { readonly [column: string]: Value };

/** Progress of a writer. */
export interface Progress {
  /** Rows that were taken from the program. */
  rows: number;
  /** Bytes of pages that were handed to the file. */
  bytes: number;
  /** "rows of metric", "index metric_name" */
  phase: string;
}

/** Figures of a finished database. */
export interface Summary {
  /** Rows of all tables; rows that were added to a database that existed. */
  rows: number;
  /** Bytes of the file. */
  bytes: number;
  pages: number;
}

/** Options of any database. */
export interface Options {
  /** Threads that build pages; one per core by default. */
  threads?: number;
  /** Memory for sorts and pages in flight: "512MiB". */
  memory?: string;
  /** Folder of temporary files. */
  tempDir?: string;
  /** Bytes of a page: 512 to 65536. */
  pageSize?: number;
  /** Replaces an existing database when the new one is complete. */
  overwrite?: boolean;
  /** Decides about rows whose key exists. */
  onConflict?: "abort" | "ignore" | "replace" | "update";
  /** Columns of the unique key that decides which row is updated. */
  key?: readonly string[];
  /** Columns that an update changes. */
  updateColumns?: readonly string[];
  sync?: "full" | "off";
  /** Writes statistics for SQLite's planner. */
  analyze?: boolean;
  /** Checks the file before it gets its name. */
  verify?: "none" | "quick" | "full";
  /** Is called at most ten times a second. `false`, or an exception, stops the writer. */
  onProgress?: (progress: Progress) => void | boolean;
  /** Stops the writer when it is aborted. */
  signal?: AbortSignal;
}

/** Options of a database that exists. */
export interface OpenOptions extends Options {
  /** CREATE statements for tables that the database lacks, or for all of it if there is no file. */
  schema?: string;
  /** Longest wait for another program's lock, in seconds. */
  busyTimeout?: number;
  /** Deletes the rows of the tables before. */
  truncate?: boolean;
  /** Sends all pages through the WAL, for replication. */
  throughWal?: boolean;
  enforceForeignKeys?: boolean;
}

/** A table, which takes rows. */
export interface Table<R extends Row = Row> {
  /**
   * Inserts a row. A value without a form in SQLite is refused at once, and leaves nothing of its row. The row is handed over with some
   * thousand others: an error of its table may come with a later call, and ends the writer.
   */
  insert(row: R): this;
  /**
   * Inserts all rows of an iterable or an asynchronous one. Full batches are handed over on another thread. A signal, or `abort`, ends it
   * also while the source stalls.
   */
  insertAll(rows: Iterable<R> | AsyncIterable<R>): Promise<void>;
  /** Appends an Arrow file or stream: the bytes of `tableToIPC(table)` of apache-arrow. Columns are found by their names. */
  appendArrow(bytes: Uint8Array): Promise<void>;
  /** Hands the waiting rows over. `finish` does so for all tables. */
  flush(): void;
}

/** A database whose rows come while the program runs. */
export interface Writer {
  /**
   * Returns a table. Arrays have values for these columns, or for all that are not computed. Objects have values for some of them. With
   * the option `truncate` the table is emptied, even if no rows come.
   */
  table<R extends Row = Row>(name: string, columns?: readonly string[]): Table<R>;
  /**
   * Waits for calls of tables that are under way, completes the database, waits for the disk and gives the file its name. The event loop
   * goes on meanwhile. If one of the calls fails, so does this one, and nothing is left.
   */
  finish(): Promise<Summary>;
  /** Discards the rows, also while `finish` runs: nothing is left of a new database. After `finish` it does nothing. */
  abort(): void;
}

/** Begins a new database. With a function, finishes it when that has filled it, and discards it if that fails. */
export function create(path: string, schema: string, options?: Options): Writer;
export function create(path: string, schema: string, fill: (db: Writer) => void | Promise<void>): Promise<Summary>;
export function create(path: string, schema: string, options: Options, fill: (db: Writer) => void | Promise<void>): Promise<Summary>;

/** Begins to add rows to a database that exists: all of them in one transaction, by `finish`. */
export function open(path: string, options?: OpenOptions): Writer;
export function open(path: string, fill: (db: Writer) => void | Promise<void>): Promise<Summary>;
export function open(path: string, options: OpenOptions, fill: (db: Writer) => void | Promise<void>): Promise<Summary>;

/** An error: what is wrong, where, and what to do about it. */
export class LitepressError extends Error {
  readonly kind:
    | "usage" | "schema" | "unsupported" | "constraint" | "data" | "limit" | "exists" | "target" | "no_space" | "io" | "corrupt"
    | "interrupted";
  readonly advice?: string;
  readonly file?: string;
  readonly table?: string;
  readonly column?: string;
  readonly value?: string;
  /** Number of the record in its table, from 1. */
  readonly record?: number;
}

/** Version of the package. */
export const version: string;
