import { randomUUID, createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type { TimeInterval } from "../../judging/interval.ts";
import { dueWindow, type Entry, type EntryState, type Plan } from "../../judging/lifetimes/entries.ts";
import type { Side } from "../../judging/lifetimes/probe.ts";

/** The key does not open this ledger. */
class WrongKey extends Error {
  constructor() {
    super("the key does not open this ledger; accepted is the key that it was made with");
    this.name = "WrongKey";
  }
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 16;

/** Scrypt parameters of OWASP's password storage sheet: N = 2^17, r = 8, p = 1. */
export const keyCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

export const newSalt = (): Uint8Array => randomBytes(SALT_BYTES);

/** Encrypts and decrypts the secrets of one ledger, each bound to its place: moved elsewhere, it does not open. */
export type Vault = ReturnType<typeof openVault>;

/**
 * A vault with a key derived from a passphrase by scrypt (RFC 7914). Encrypts with AES-256-GCM (NIST SP 800-38D) and a
 * fresh nonce each time.
 */
export const openVault = (passphrase: string, salt: Uint8Array, cost = keyCost) => {
  const key = scryptSync(passphrase, salt, KEY_BYTES, cost);
  return {
    lock: (secret: string, place: string): Uint8Array => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    /** Throws WrongKey if the key, the place or the bytes differ from those of `lock`. */
    open: (locked: Uint8Array, place: string): string => {
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, locked.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(place))
          .setAuthTag(locked.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = decipher.update(locked.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch {
        throw new WrongKey();
      }
    },
  };
};

export interface Settlement {
  readonly held: boolean;
  /** The side that the probe was really on; a late probe may be on the other side than planned. */
  readonly side: Side;
  readonly note: string;
  readonly age: TimeInterval;
}

/** An issued credential to be probed later, as it is put into the store. */
export interface Deposit {
  readonly target: string;
  readonly rule: string;
  readonly subject: string;
  /** Everything that a probe needs, as JSON; encrypted before it reaches the disk. */
  readonly secret: string;
  readonly plan: Plan;
}

export type Unlocked = Entry & Pick<Deposit, "secret">;

/** Version of the schema. Files of other versions are refused. */
export const storeVersion = 2;

/** Each row is a credential for a later run. Everything but `secret` is readable without the key. */
export const schema = `
  create table if not exists meta (key text primary key, value blob not null) strict;
  create table if not exists entries (
    id text primary key, target text, rule text, subject text, secret blob, plan text,
    due_from_ms real, due_until_ms real,
    state text not null default 'waiting', claimed_here_ms real, note text, outcome text
  ) strict;
  create index if not exists due on entries (target, state, due_from_ms);
`;

/** A run that holds entries for longer than this, in milliseconds, is considered dead. */
const LEASE_MS = 30 * 60_000;

/** Noted on an entry while its only probe is under way; stays if the answer or the run is lost. */
const ASKED = "a run probed it, but ended before it recorded the answer";

const isLeft = `abs(:here - claimed_here_ms) > ${LEASE_MS}`;

const statements = {
  deposit: `insert into entries (id, target, rule, subject, secret, plan, due_from_ms, due_until_ms)
    values (:id, :target, :rule, :subject, :secret, :plan, :from, :until)`,
  claim: `update entries set state = 'claimed', claimed_here_ms = :here
    where target = :target and rule = :rule and due_from_ms <= :now and due_until_ms >= :latest
      and (state = 'waiting' or (state = 'claimed' and note is null and ${isLeft}))
    returning *`,
  ask: "update entries set note = :note where id = :id and state = 'claimed' and note is null",
  release: "update entries set state = 'waiting' where id = :id and state = 'claimed' and note is null",
  // A judged or missed entry no longer needs its secret.
  settle: `update entries set state = :state, secret = null, note = :note, outcome = :outcome,
    plan = json_set(plan, '$.side', coalesce(:side, plan ->> '$.side')) where id = :id and state = 'claimed'`,
  expire: `update entries set state = 'missed', secret = null, outcome = json_object('settledAtMs', :here),
      note = coalesce(note, iif(state = 'claimed', 'the run that held it while it was due ended before probing it',
        'no run happened while it was due'))
    where target = :target and (due_until_ms < :now or note is not null)
      and (state = 'waiting' or (state = 'claimed' and ${isLeft}))
    returning *`,
  waiting: `select * from entries where target = ? and rule = ? and subject = ? and state = 'waiting'
    order by due_from_ms`,
  entries: "select * from entries where target = coalesce(:target, target) order by due_from_ms",
} as const;

/** Binds an entry's secret to its place: moved elsewhere, it does not open. */
const placeOf = (...names: readonly string[]): string => names.join("\n");

type Row = Record<string, SQLOutputValue>;

type Prepare = (name: keyof typeof statements) => StatementSync;

/**
 * Credentials to be probed later, in an open database that has the schema. Every change is one transaction: a killed
 * run leaves each entry either unchanged or changed, and two runs never hold the same entry.
 */
export const storeIn = (database: DatabaseSync, vault: Vault) => {
  const of: Prepare = (name) => database.prepare(statements[name]);
  return {
    ...depositsIn(of, vault),
    ...verdictsIn(of),
    entries: (target?: string): readonly Entry[] => entriesIn(database, target),
    close: (): void => database.close(),
  };
};

/** Depositing entries, and claiming them to be judged. */
const depositsIn = (of: Prepare, vault: Vault) => {
  const unlocked = (row: Row): Unlocked => {
    const entry = entryOf(row);
    const place = placeOf(entry.id, entry.target, entry.rule);
    return { ...entry, secret: vault.open(row["secret"] as Uint8Array, place) };
  };
  return {
    deposit: ({ target, rule, subject, secret, plan }: Deposit): void => {
      const id = randomUUID();
      const { earliestMs: from, latestMs: until } = dueWindow(plan);
      const locked = vault.lock(secret, placeOf(id, target, rule));
      const json = JSON.stringify(plan);
      of("deposit").run({ id, target, rule, subject, secret: locked, plan: json, from, until });
    },
    /**
     * Claims for this run the target's entries that are due now, by its clock, or within `aheadMs`. Entries of a dead
     * run become due again when its lease ends, unless it had begun a probe that can be sent only once.
     */
    claim: (
      target: string,
      rule: string,
      now: TimeInterval,
      hereMs: number,
      aheadMs = 0,
    ): readonly Unlocked[] =>
      of("claim")
        .all({ target, rule, now: now.earliestMs + aheadMs, latest: now.latestMs, here: hereMs })
        .map(unlocked),
    /** Records that an entry's only probe is about to be sent; false if it was sent before, or another run holds the entry. */
    ask: (id: string): boolean => Number(of("ask").run({ id, note: ASKED }).changes) === 1,
    /** Entries that are not due yet, for credentials that are used before their probe. */
    waiting: (target: string, rule: string, subject: string): readonly Unlocked[] =>
      of("waiting").all(target, rule, subject).map(unlocked),
    /** Returns an entry unjudged; it stays due. */
    release: (id: string): void => void of("release").run({ id }),
  };
};

const verdictsIn = (of: Prepare) => {
  const settle = (id: string, state: EntryState, note: string, outcome: object, side: Side | null): void =>
    void of("settle").run({ id, state, note, outcome: JSON.stringify(outcome), side });
  return {
    settle: (id: string, { held, side, note, age }: Settlement, hereMs: number): void =>
      settle(id, "judged", note, { held, age, settledAtMs: hereMs }, side),
    /** Marks an entry as undecided, with the reason. */
    miss: (id: string, note: string, hereMs: number): void =>
      settle(id, "missed", note, { settledAtMs: hereMs }, null),
    /** Marks entries that expired unjudged, with the reason. */
    expire: (target: string, now: TimeInterval, hereMs: number): readonly Entry[] =>
      of("expire").all({ target, now: now.earliestMs, here: hereMs }).map(entryOf),
  };
};

export type Store = ReturnType<typeof storeIn>;

/** Entries without their secrets; needs no key. */
export const entriesIn = (database: DatabaseSync, target?: string): readonly Entry[] =>
  database
    .prepare(statements.entries)
    .all({ target: target ?? null })
    .map(entryOf);

const entryOf = ({ id, target, rule, subject, state, note, plan, outcome }: Row): Entry => ({
  ...(JSON.parse(String(plan)) as Plan),
  id: String(id),
  target: String(target),
  rule: String(rule),
  subject: String(subject),
  state: String(state) as EntryState,
  ...(note === null ? {} : { note: String(note) }),
  ...(outcome === null ? {} : (JSON.parse(String(outcome)) as Pick<Entry, "held" | "age" | "settledAtMs">)),
});
