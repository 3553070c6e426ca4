import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { ConfigurationError } from "../problem.ts";
import type { Bracket } from "../world/exchange.ts";
import { dueWindow, type Deposit, type Entry, type EntryState, type Side } from "./entries.ts";
import { newSalt, openVault, verifierOf, verify, type Vault } from "./vault.ts";

/** What one probe of a credential came to. */
export interface Settlement {
  readonly held: boolean;
  /** The side that the probe was on, where it came later than it was aimed. */
  readonly side?: Side;
  readonly note: string;
  readonly age: Bracket;
}

/**
 * Credentials that wait for their day, in one SQLite file. Every change is one transaction: a run that
 * is killed leaves each entry either as it was or as it became, and two runs never hold the same one.
 */
export interface Ledger {
  deposit(target: string, deposit: Deposit): void;
  /**
   * Takes the entries of a target that are due at this moment of its clock, or will be `aheadMs` later, for this run
   * alone. Entries that a run took and never gave back are due again once its lease is over, unless it had begun to ask what can be asked only once.
   */
  claim(
    target: string,
    rule: string,
    now: Bracket,
    hereMs: number,
    aheadMs?: number,
  ): readonly (Entry & { readonly secret: string })[];
  /** Says that the only question to an entry is about to be asked; false where it was before, or another run has it. */
  ask(id: string): boolean;
  /** Marks what decided nothing, and why. */
  miss(id: string, note: string, hereMs: number): void;
  /** Entries that are not due yet, for those that are to be used on their way. */
  waiting(target: string, rule: string, subject: string): readonly (Entry & { readonly secret: string })[];
  settle(id: string, settlement: Settlement, hereMs: number): void;
  /** Gives an entry back unjudged: it stays due. */
  release(id: string): void;
  /** Marks what is over and was never judged, and says why. */
  expire(target: string, now: Bracket, hereMs: number): readonly Entry[];
  entries(target?: string): readonly Entry[];
  close(): void;
}

const VERSION = 1;
/** A run that holds entries for longer than this is taken for dead. */
const LEASE_MS = 30 * 60_000;

/** What is noted of an entry while its only question is under way; it stays where the answer is lost, or the run is. */
const ASKED = "a run asked it, and ended before it could tell";

const schema = `
  create table if not exists meta (key text primary key, value blob not null) strict;
  create table if not exists entries (
    id text primary key, target text not null, rule text not null, subject text not null, side text not null,
    secret blob, lifetime_ms real not null,
    issued_earliest_ms real not null, issued_latest_ms real not null, issued_here_ms real not null,
    age_from_ms real not null, age_until_ms real not null,
    due_from_ms real not null, due_until_ms real not null,
    state text not null, claimed_here_ms real, note text, held integer,
    settled_here_ms real, probed_earliest_ms real, probed_latest_ms real
  ) strict;
  create index if not exists due on entries (target, state, due_from_ms);
`;

/**
 * Opens a ledger, or makes one. Throws ConfigurationError where the file is none, is readable by
 * others, or the key is not the one it was made with.
 */
export const openLedger = (file: string, passphrase: string): Ledger => {
  const database = openDatabase(file);
  try {
    const vault = vaultOf(database, passphrase, file);
    return ledgerOn(database, vault);
  } catch (error) {
    database.close();
    throw error;
  }
};

/** What a ledger holds, without its secrets and without its key. Throws ConfigurationError where the file is no ledger. */
export const listLedger = (file: string): readonly Entry[] => {
  if (!existsSync(file)) throw new ConfigurationError([`ledger ${file}: there is no such file`]);
  refuseWide(file);
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
    try {
      return database.prepare("select * from entries order by due_from_ms").all().map(entryOf);
    } finally {
      database.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError([
      `ledger ${file}: ${reason}; accepted is a file that \`conform --ledger\` made`,
    ]);
  }
};

const openDatabase = (file: string): DatabaseSync => {
  try {
    mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
    if (existsSync(file)) refuseWide(file);
    else closeSync(openSync(file, "a", 0o600));
    const database = new DatabaseSync(file, { timeout: 10_000 });
    // A write is on the disk before the credential counts as deposited; readers and writers do not wait for one another.
    database.exec("pragma journal_mode = wal; pragma synchronous = full;");
    database.exec(schema);
    for (const side of ["-wal", "-shm"]) if (existsSync(file + side)) chmodSync(file + side, 0o600);
    return database;
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError([
      `--ledger ${file}: ${reason}; accepted is a file that \`conform --ledger\` made`,
    ]);
  }
};

/** Others of this machine have no business in a file that holds credentials, locked or not. */
const refuseWide = (file: string): void => {
  const mode = statSync(file).mode & 0o777;
  if (process.platform !== "win32" && (mode & 0o077) !== 0)
    throw new ConfigurationError([
      `--ledger ${file}: others may read it (mode ${mode.toString(8)}); accepted is mode 600: chmod 600 ${file}`,
    ]);
};

const vaultOf = (database: DatabaseSync, passphrase: string, file: string): Vault => {
  const read = (key: string): Uint8Array | undefined =>
    database.prepare("select value from meta where key = ?").get(key)?.["value"] as Uint8Array | undefined;
  const version = read("version")?.[0];
  if (version !== undefined && version > VERSION)
    throw new ConfigurationError([
      `--ledger ${file}: it is of version ${version}, and this Touchstone knows up to ${VERSION}; update it`,
    ]);
  // The first of two runs that make the ledger at once decides on its salt.
  database.exec("begin immediate");
  try {
    const salt = read("salt") ?? newSalt();
    const vault = openVault(passphrase, salt);
    const verifier = read("verifier");
    if (verifier === undefined) {
      const write = database.prepare("insert into meta (key, value) values (?, ?)");
      write.run("version", Uint8Array.of(VERSION));
      write.run("salt", salt);
      write.run("verifier", verifierOf(vault));
    } else verify(vault, verifier);
    database.exec("commit");
    return vault;
  } catch (error) {
    database.exec("rollback");
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError([`--ledger ${file}: ${reason}`]);
  }
};

type Row = Record<string, SQLOutputValue>;

const placeOf = (id: string, target: string, rule: string): string => `${id}\n${target}\n${rule}`;

const ledgerOn = (database: DatabaseSync, vault: Vault): Ledger => {
  const insert = database.prepare(
    `insert into entries (id, target, rule, subject, side, secret, lifetime_ms, issued_earliest_ms, issued_latest_ms,
       issued_here_ms, age_from_ms, age_until_ms, due_from_ms, due_until_ms, state)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting')`,
  );
  const take = database.prepare(
    `update entries set state = 'claimed', claimed_here_ms = :here
     where target = :target and rule = :rule and due_from_ms <= :now and due_until_ms >= :latest
       and (state = 'waiting' or (state = 'claimed' and note is null and abs(:here - claimed_here_ms) > ${LEASE_MS}))
     returning *`,
  );
  // What was judged or missed needs its secret no longer.
  const judged = database.prepare(
    `update entries set state = 'judged', secret = null, held = ?, note = ?, probed_earliest_ms = ?, probed_latest_ms = ?,
       settled_here_ms = ?, side = coalesce(?, side) where id = ? and state = 'claimed'`,
  );
  const free = database.prepare(
    "update entries set state = 'waiting' where id = ? and state = 'claimed' and note is null",
  );
  const asked = database.prepare(
    "update entries set note = ? where id = ? and state = 'claimed' and note is null",
  );
  const undecided = database.prepare(
    "update entries set state = 'missed', secret = null, note = ?, settled_here_ms = ? where id = ? and state = 'claimed'",
  );
  const miss = database.prepare(
    `update entries set state = 'missed', secret = null, settled_here_ms = :here,
       note = coalesce(note, iif(state = 'claimed', 'the run that held it while it was due ended before it came to it',
         'no run came by while it was due'))
     where target = :target and (due_until_ms < :now or note is not null)
       and (state = 'waiting' or (state = 'claimed' and abs(:here - claimed_here_ms) > ${LEASE_MS}))
     returning *`,
  );
  const asleep = database.prepare(
    "select * from entries where target = ? and rule = ? and subject = ? and state = 'waiting' order by due_from_ms",
  );
  const unlocked = (row: Row): Entry & { readonly secret: string } => {
    const entry = entryOf(row);
    const place = placeOf(entry.id, entry.target, entry.rule);
    return { ...entry, secret: vault.open(row["secret"] as Uint8Array, place) };
  };
  return {
    deposit: (target, one) => {
      const id = randomUUID();
      const due = dueWindow(one);
      insert.run(
        id,
        target,
        one.rule,
        one.subject,
        one.side,
        vault.lock(one.secret, placeOf(id, target, one.rule)),
        one.lifetimeMs,
        one.issued.earliestMs,
        one.issued.latestMs,
        one.issuedHereMs,
        one.ages.fromMs,
        one.ages.untilMs,
        due.earliestMs,
        due.latestMs,
      );
    },
    claim: (target, rule, now, hereMs, aheadMs = 0) =>
      take
        .all({ target, rule, now: now.earliestMs + aheadMs, latest: now.latestMs, here: hereMs })
        .map(unlocked),
    ask: (id) => Number(asked.run(ASKED, id).changes) === 1,
    miss: (id, note, hereMs) => void undecided.run(note, hereMs, id),
    waiting: (target, rule, subject) => asleep.all(target, rule, subject).map(unlocked),
    settle: (id, { held, side, note, age }, hereMs) =>
      void judged.run(held ? 1 : 0, note, age.earliestMs, age.latestMs, hereMs, side ?? null, id),
    release: (id) => void free.run(id),
    expire: (target, now, hereMs) => miss.all({ target, now: now.earliestMs, here: hereMs }).map(entryOf),
    entries: (target) =>
      (target === undefined
        ? database.prepare("select * from entries order by due_from_ms").all()
        : database.prepare("select * from entries where target = ? order by due_from_ms").all(target)
      ).map(entryOf),
    close: () => database.close(),
  };
};

const entryOf = (row: Row): Entry => {
  const number = (key: string): number => Number(row[key]);
  const settled = row["settled_here_ms"] !== null;
  const probed = row["probed_earliest_ms"] !== null;
  return {
    id: String(row["id"]),
    target: String(row["target"]),
    rule: String(row["rule"]),
    subject: String(row["subject"]),
    side: String(row["side"]) as Side,
    lifetimeMs: number("lifetime_ms"),
    issued: { earliestMs: number("issued_earliest_ms"), latestMs: number("issued_latest_ms") },
    issuedHereMs: number("issued_here_ms"),
    ages: { fromMs: number("age_from_ms"), untilMs: number("age_until_ms") },
    state: String(row["state"]) as EntryState,
    ...(row["note"] === null ? {} : { note: String(row["note"]) }),
    ...(settled ? { settledAtMs: number("settled_here_ms") } : {}),
    ...(row["held"] === null ? {} : { held: row["held"] === 1 }),
    ...(probed
      ? { age: { earliestMs: number("probed_earliest_ms"), latestMs: number("probed_latest_ms") } }
      : {}),
  };
};
