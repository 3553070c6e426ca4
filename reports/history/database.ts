import { chmodSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileMode } from "../../conformance/contract/files.ts";

/** The index of a folder of runs lies in the folder itself. It holds nothing that the records do not: it may be deleted at any time. */
export const indexFile = ".history.sqlite";

/** A number of its own for every shape of the tables: an index of another shape is made anew. */
const shape = 2;

const tables = `
  CREATE TABLE runs (
    name TEXT PRIMARY KEY, stamp TEXT NOT NULL, problem TEXT,
    kind TEXT, started_at TEXT, ended_at TEXT, state TEXT, outcome TEXT, exit_code INTEGER,
    tool TEXT, target TEXT, base_url TEXT, behaviour TEXT, fingerprint TEXT,
    scenario TEXT, shape TEXT, rate REAL, usable INTEGER
  ) STRICT;
  CREATE INDEX runs_by_time ON runs (started_at);
  CREATE TABLE rules (
    run TEXT NOT NULL, id TEXT NOT NULL, level TEXT, verdict TEXT NOT NULL, fingerprint TEXT,
    PRIMARY KEY (run, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE figures (
    run TEXT NOT NULL, endpoint TEXT NOT NULL, metric TEXT NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (run, endpoint, metric)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE changes (series TEXT PRIMARY KEY, found TEXT NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${shape};
`;

const memory = ":memory:";
const WAIT_MS = 5_000;

/**
 * Opens the index of a folder, made anew where it is not there, is damaged, or has another shape. Where the
 * folder cannot be written the index is kept in memory, and made anew each time.
 */
export const openIndex = (folder: string): DatabaseSync => {
  const file = path.join(folder, indexFile);
  try {
    return opened(file);
  } catch {
    try {
      // Damaged, of another shape, or not ours to write: a fresh one, or none on disk.
      for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
      return opened(file);
    } catch {
      return opened(memory);
    }
  }
};

/** Throws where the file is no index of this shape, or cannot be written. */
const opened = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { timeout: WAIT_MS });
  try {
    // Loses nothing that matters in a power cut, and spares a wait for the disk per change.
    database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
    const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
    const made = database.prepare("SELECT count(*) AS made FROM sqlite_schema").get()?.["made"];
    if (made === 0) database.exec(tables);
    else if (version !== shape) throw new Error("the index has another shape");
    database.exec("COMMIT");
    if (file !== memory) chmodSync(file, fileMode);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
};
