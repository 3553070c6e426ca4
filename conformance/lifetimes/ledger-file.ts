import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileMode, readReason } from "../contract/files.ts";
import { parseJson } from "../contract/json.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Secrets } from "../contract/secrets.ts";
import { errorMessage } from "../contract/text.ts";
import { NotALock, takeLock } from "../files/lock.ts";
import { makeFolders } from "../files/run-directory.ts";
import { refuseWide, WideFile } from "../files/private.ts";
import { replaceFile } from "../files/write.ts";
import type { Entry } from "../judging/lifetimes/entries.ts";
import type { Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";

export const ledgerKeyVariable = "TOUCHSTONE_LEDGER_KEY";

const SHORTEST_KEY = 16;

/** Scrypt parameters of OWASP's password storage sheet: N = 2^17, r = 8, p = 1. */
export const keyCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** What a ledger begins with; the bytes after it are its version, salt, nonce, tag and text. */
const MAGIC = Buffer.from("touchstone ledger ");
const VERSION = 4;
const [SALT_BYTES, NONCE_BYTES, TAG_BYTES, KEY_BYTES] = [16, 12, 16, 32];

/**
 * The passphrase from a key file or the environment. Throws ConfigurationError if there is no key, if it is too short, or
 * if others can read its file; `prefix` begins its message.
 */
export const ledgerKeyFrom = (
  prefix: string,
  keyFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): string => {
  const from = keyFile === undefined ? ledgerKeyVariable : `--ledger-key-file ${keyFile}`;
  const key = keyFile === undefined ? environment[ledgerKeyVariable] : readKey(keyFile);
  if (key === undefined || key === "")
    throw new ConfigurationError(
      `${prefix}a ledger holds credentials and needs a key; set ${ledgerKeyVariable}, or name a file with --ledger-key-file`,
    );
  if (key.length < SHORTEST_KEY)
    throw new ConfigurationError(
      `${from}: the key has ${key.length} characters; accepted are ${SHORTEST_KEY} or more, such as the output of \`openssl rand -base64 32\``,
    );
  return key;
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

/** What remains of scripts, and what was judged. Nobody else has the file until it is closed. */
export interface Ledger {
  entries(): readonly Entry[];
  /** Adds an entry or replaces the one with its id, and saves all: a killed run leaves it either unchanged or changed. */
  put(entry: Entry): void;
  close(): void;
}

/**
 * Opens or creates a ledger, and keeps others from it until it is closed. Throws ConfigurationError, and changes nothing, if
 * the file is not a ledger, is damaged, has another version or key, is readable by others, or is in use.
 */
export const openLedger = (file: string, passphrase: string, cost = keyCost): Ledger =>
  namingFile(`--ledger ${file}`, () => {
    makeFolders(path.dirname(path.resolve(file)));
    const release = takeLock(
      `${file}.lock`,
      (pid) => new ConfigurationError(`process ${pid} is using it; wait until that run has ended`),
    );
    try {
      const { salt, entries } = existsSync(file)
        ? readLedger(file, () => passphrase, cost)
        : { salt: randomBytes(SALT_BYTES), entries: [] };
      const key = keyOf(passphrase, salt, cost);
      const kept = new Map(entries.map((entry) => [entry.id, entry]));
      const all = (): readonly Entry[] => [...kept.values()];
      const save = (): void => replaceFile(file, locked(JSON.stringify(all()), key, salt), fileMode);
      if (!existsSync(file)) save();
      return {
        entries: all,
        put: (entry) => {
          kept.set(entry.id, entry);
          save();
        },
        close: release,
      };
    } catch (error) {
      release();
      throw error;
    }
  });

/** The entries of a ledger, as they become due. Throws ConfigurationError as `openLedger` does, and before it asks for the key. */
export const listLedger = (file: string, passphrase: () => string, cost = keyCost): readonly Entry[] =>
  namingFile(`ledger ${file}`, () => {
    if (!existsSync(file)) throw new ConfigurationError("there is no such file");
    const { entries } = readLedger(file, passphrase, cost);
    return entries.toSorted((a, b) => a.due.earliestMs - b.due.earliestMs);
  });

/** Prefixes every problem of a file with its name. */
const namingFile = <T>(name: string, action: () => T): T => {
  try {
    return action();
  } catch (error) {
    const problems = error instanceof ConfigurationError ? error.problems : [problemOf(error)];
    throw new ConfigurationError(problems.map((problem) => `${name}: ${problem}`));
  }
};

const problemOf = (error: unknown): string =>
  error instanceof NotALock ? `its lock ${errorMessage(error)}` : readReason(error);

const keyOf = (passphrase: string, salt: Uint8Array, cost: typeof keyCost): Uint8Array =>
  scryptSync(passphrase, salt, KEY_BYTES, cost);

/** The whole ledger, encrypted by AES-256-GCM (NIST SP 800-38D) with a key derived by scrypt (RFC 7914) and a fresh nonce. */
const locked = (text: string, key: Uint8Array, salt: Uint8Array): Uint8Array => {
  const nonce = randomBytes(NONCE_BYTES);
  const head = Buffer.concat([MAGIC, Uint8Array.of(VERSION)]);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(head);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([head, salt, nonce, cipher.getAuthTag(), body]);
};

const readLedger = (file: string, passphrase: () => string, cost: typeof keyCost) => {
  refuseWide(file, "credentials");
  const bytes = readFileSync(file);
  const head = bytes.subarray(0, MAGIC.length + 1);
  const version = head[MAGIC.length];
  if (!head.subarray(0, MAGIC.length).equals(MAGIC) || version === undefined)
    throw new ConfigurationError("it is not a ledger; accepted is a file made by `conform --ledger`");
  if (version !== VERSION)
    throw new ConfigurationError(
      `it has version ${version}, but this Touchstone reads version ${VERSION}; ${version > VERSION ? "update it" : "use the version that made it, or remove the file and start again"}`,
    );
  let at = head.length;
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  const [salt, nonce, tag] = [take(SALT_BYTES), take(NONCE_BYTES), take(TAG_BYTES)];
  const key = keyOf(passphrase(), salt, cost);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(head)
      .setAuthTag(tag);
    const text = Buffer.concat([decipher.update(bytes.subarray(at)), decipher.final()]).toString("utf8");
    return { salt, entries: parseJson(text) as readonly Entry[] };
  } catch {
    throw new ConfigurationError(
      "the key does not open this ledger, or the file is damaged; accepted is the key that it was made with",
    );
  }
};

/**
 * A credential as JSON, with its client reduced to its id: that client's secret is in the profile, which a later run
 * reads too. Undefined if it contains a number that JSON cannot represent.
 */
export const asJson = (credential: unknown): string | undefined => {
  let isFaithful = true;
  const text = JSON.stringify(credential, (key, inner: unknown) => {
    if (typeof inner === "number" && !Number.isFinite(inner)) isFaithful = false;
    return key === "client" ? { id: (inner as Client).id } : inner;
  });
  return isFaithful ? text : undefined;
};

/**
 * The credential that an earlier run wrote with `asJson`, with its client as the profile has it now, and masked from
 * here on. Undefined if the profile no longer has that client.
 */
export const fromJson = (
  text: string,
  { secrets, ...clients }: Pick<World, "client" | "secondClient" | "secrets">,
): unknown => {
  const credential = JSON.parse(text) as Readonly<Record<string, unknown>>;
  conceal(credential, secrets);
  if (credential["client"] === undefined) return credential;
  const { id } = credential["client"] as Client;
  const known = clientsOf(clients).find((one) => one.id === id);
  return known && { ...credential, client: known };
};

const names = { code: "code", accessToken: "access token", refreshToken: "refresh token" } as const;

const conceal = (credential: Readonly<Record<string, unknown>>, secrets: Secrets): void => {
  for (const [key, name] of Object.entries(names)) {
    const value = credential[key];
    if (typeof value === "string") secrets.conceal(value, name);
  }
};
