import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileMode, readReason } from "../../contract/files.ts";
import { refuseWide, WideFile } from "../../files/private.ts";
import { ConfigurationError } from "../../contract/problem.ts";
import { errorMessage } from "../../contract/text.ts";
import type { Entry } from "../../judging/lifetimes/entries.ts";
import { entriesIn, schema, storeIn, storeVersion, type Store } from "./store.ts";
import { keyCost, newSalt, openVault, type Vault } from "./vault.ts";

export const ledgerKeyVariable = "TOUCHSTONE_LEDGER_KEY";

const SHORTEST_KEY = 16;

/**
 * Opens the ledger that a run was given, with the passphrase of a key file or of the environment. Throws
 * ConfigurationError where there is no key, where it is short enough to be guessed, and where others may read its file.
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
      `--ledger ${file}: it holds credentials and needs a key; set ${ledgerKeyVariable}, or name a file with --ledger-key-file`,
    );
  if (key.length < SHORTEST_KEY)
    throw new ConfigurationError(
      `${from}: the key has ${key.length} characters; accepted are ${SHORTEST_KEY} or more, such as \`openssl rand -base64 32\` prints`,
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

const accepted = "accepted is a file that `conform --ledger` made";

/**
 * Opens a ledger, or makes one. Throws ConfigurationError where the file is none, is of another version, is readable by
 * others, or the key is not the one it was made with.
 */
export const openLedger = (file: string, passphrase: string, cost = keyCost): Store =>
  namingFile(`--ledger ${file}`, () => {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    if (existsSync(file)) refuseWide(file, "credentials");
    else closeSync(openSync(file, "a", fileMode));
    const database = new DatabaseSync(file, { timeout: 10_000 });
    try {
      // A write is on the disk before the credential counts as deposited; readers and writers do not wait for one another.
      database.exec("pragma journal_mode = wal; pragma synchronous = full;");
      refuseVersion(database);
      database.exec(schema);
      return storeIn(database, vaultOf(database, passphrase, cost));
    } catch (error) {
      database.close();
      throw error;
    }
  });

/** What a ledger holds, without its secrets and without its key. Throws ConfigurationError where the file is no ledger. */
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

/** Every problem of a file begins with its name. */
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
      `it is of version ${version}, and this Touchstone reads version ${storeVersion}; ${version > storeVersion ? "update it" : "use the version that made it, or remove the file and begin again"}`,
    );
};

const vaultOf = (database: DatabaseSync, passphrase: string, cost: typeof keyCost): Vault => {
  // The first of two runs that make the ledger at once decides on its salt. A wrong key does not open the verifier.
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
