import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileMode, readReason } from "../../contract/files.ts";
import { refuseWide, WideFile } from "../../files/private.ts";
import { ConfigurationError } from "../../contract/problem.ts";
import { errorMessage } from "../../contract/text.ts";
import type { Entry } from "../../judging/lifetimes/entries.ts";
import {
  entriesIn,
  schema,
  storeIn,
  storeVersion,
  type Store,
  keyCost,
  newSalt,
  openVault,
  type Vault,
} from "./store.ts";

export const ledgerKeyVariable = "TOUCHSTONE_LEDGER_KEY";

const SHORTEST_KEY = 16;

/**
 * Opens the ledger given to a run, with the passphrase from a key file or the environment. Throws ConfigurationError if
 * there is no key, if it is too short, or if others can read its file.
 */
export const ledgerFromFlags = (
  file: string,
  keyFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Store => {
  const from = keyFile === undefined ? ledgerKeyVariable : `--ledger-key-file ${keyFile}`;
  const key = keyFile === undefined ? environment[ledgerKeyVariable] : readKey(keyFile);
  if (key === undefined || key === "")
    throw new ConfigurationError(
      `--ledger ${file}: a ledger holds credentials and needs a key; set ${ledgerKeyVariable}, or name a file with --ledger-key-file`,
    );
  if (key.length < SHORTEST_KEY)
    throw new ConfigurationError(
      `${from}: the key has ${key.length} characters; accepted are ${SHORTEST_KEY} or more, such as the output of \`openssl rand -base64 32\``,
    );
  return openLedger(file, key);
};

const readKey = (file: string): string => {
  try {
    refuseWide(file, "the key");
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const why = error instanceof WideFile ? error.message : `${file} cannot be read (${readReason(error)})`;
    throw new ConfigurationError(`--ledger-key-file: ${why}`);
  }
};

const accepted = "accepted is a file made by `conform --ledger`";

/**
 * Opens or creates a ledger. Throws ConfigurationError if the file is not a ledger, has another version, is readable by
 * others, or was made with another key.
 */
export const openLedger = (file: string, passphrase: string, cost = keyCost): Store =>
  namingFile(`--ledger ${file}`, () => {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    if (existsSync(file)) refuseWide(file, "credentials");
    else closeSync(openSync(file, "a", fileMode));
    const database = new DatabaseSync(file, { timeout: 10_000 });
    try {
      // A deposit counts only once it is on disk; with WAL, readers and writers do not block each other.
      database.exec("pragma journal_mode = wal; pragma synchronous = full;");
      refuseVersion(database);
      database.exec(schema);
      return storeIn(database, vaultOf(database, passphrase, cost));
    } catch (error) {
      database.close();
      throw error;
    }
  });

/** The entries of a ledger without their secrets; needs no key. Throws ConfigurationError if the file is not a ledger. */
export const listLedger = (file: string): readonly Entry[] =>
  namingFile(`ledger ${file}`, () => {
    if (!existsSync(file)) throw new ConfigurationError("there is no such file");
    refuseWide(file, "credentials");
    const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
    try {
      refuseVersion(database);
      return entriesIn(database);
    } finally {
      database.close();
    }
  });

/** Prefixes every problem of a file with its name. */
const namingFile = <T>(name: string, action: () => T): T => {
  try {
    return action();
  } catch (error) {
    throw new ConfigurationError(
      error instanceof ConfigurationError
        ? error.problems.map((problem) => `${name}: ${problem}`)
        : `${name}: ${errorMessage(error)}; ${accepted}`,
    );
  }
};

const readMeta = (database: DatabaseSync, key: string): Uint8Array | undefined =>
  database.prepare("select value from meta where key = ?").get(key)?.["value"] as Uint8Array | undefined;

const refuseVersion = (database: DatabaseSync): void => {
  const isNew =
    database.prepare("select 1 from sqlite_schema where type = 'table' and name = 'meta'").get() ===
    undefined;
  const version = isNew ? undefined : readMeta(database, "version")?.[0];
  if (version !== undefined && version !== storeVersion)
    throw new ConfigurationError(
      `it has version ${version}, but this Touchstone reads version ${storeVersion}; ${version > storeVersion ? "update it" : "use the version that made it, or remove the file and start again"}`,
    );
};

const vaultOf = (database: DatabaseSync, passphrase: string, cost: typeof keyCost): Vault => {
  // The first of two runs that create the ledger at once sets its salt. A wrong key fails on the verifier.
  database.exec("begin immediate");
  try {
    const salt = readMeta(database, "salt") ?? newSalt();
    const vault = openVault(passphrase, salt, cost);
    const verifier = readMeta(database, "verifier");
    if (verifier === undefined) {
      const write = database.prepare("insert into meta (key, value) values (?, ?)");
      write.run("version", Uint8Array.of(storeVersion));
      write.run("salt", salt);
      write.run("verifier", vault.lock("touchstone ledger", "verifier"));
    } else vault.open(verifier, "verifier");
    database.exec("commit");
    return vault;
  } catch (error) {
    database.exec("rollback");
    throw new ConfigurationError(errorMessage(error));
  }
};
