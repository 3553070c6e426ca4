import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileMode, fileReason, recordFiles } from "../../contract/files.ts";
import { ConfigurationError } from "../../contract/problem.ts";
import type { Reading } from "../../world/clock.ts";
import type { Checkpoint, KeptStep } from "../../world/durable-steps.ts";
import { schema, storeIn, storeVersion, type Store } from "../store/store.ts";
import { vaultWith } from "../store/vault.ts";
import { onThisClock } from "./elapsed.ts";
import { findKey, makeKey, removeKey } from "./key.ts";

export interface CheckpointFile extends Checkpoint {
  /**
   * Takes over the checkpoint of the continued run, once it is certain that rules will run or that this run is to be
   * continued in its place; only the first call does. Throws ConfigurationError if a process is still working on that run.
   */
  begin(): void;
  /** What happened to the earlier run's checkpoint, and whether this run could keep its own. */
  notes(): readonly string[];
  /** Deletes the checkpoint at the end of the run. */
  remove(): void;
  /** Closes the file but leaves it for a run that continues this one. */
  close(): void;
}

export interface CheckpointOptions {
  readonly directory: string;
  readonly continues?: string | undefined;
  /** The target's address; credentials of another target are useless. */
  readonly target: string;
  /** The folder of the keys that encrypt checkpoints. */
  readonly keys: string;
  readonly read: () => Reading;
  readonly freshUuid: () => string;
}

export const checkpointOf = (all: Checkpoint, rule: string): Checkpoint => {
  const named = (id: string): string => `${rule}: ${id}`;
  return {
    take: (id) => all.take(named(id)),
    keep: (id, steps) => all.keep(named(id), steps),
    drop: (id) => all.drop(named(id)),
  };
};

/**
 * Writes each change before its case goes on, so a run killed at any moment leaves exactly the cases that have not sent
 * a decisive request. Credentials are encrypted with a key stored elsewhere, because a run's folder may be handed on.
 */
export const openCheckpoint = (options: CheckpointOptions): CheckpointFile => {
  const file = path.join(options.directory, recordFiles.checkpoint);
  const left = new Map<string, readonly KeptStep[]>();
  /** What the takeover gave to note; undefined before it. */
  let told: readonly string[] | undefined;
  let failure: string | undefined;
  let open: { readonly store: Store; readonly keyName: string } | undefined;
  let isOver = false;
  /** Never stops a run if writing fails: it can still be judged, just not continued. */
  const write = (change: (store: Store) => void): void => {
    if (failure !== undefined || isOver) return;
    try {
      open ??= create(file, options);
      change(open.store);
    } catch (error) {
      failure = fileReason(error);
    }
  };
  const keep = (id: string, steps: readonly KeptStep[]): void =>
    write((store) => store.keepCase(id, JSON.stringify({ steps, keptAt: options.read() })));
  const close = (): void => {
    isOver = true;
    open?.store.close();
    open = undefined;
  };
  return {
    begin: () => {
      if (options.continues === undefined || told !== undefined) return;
      const { cases, notes } = takeOver(options.continues, options);
      told = notes;
      for (const [id, steps] of cases) {
        left.set(id, steps);
        keep(id, steps);
      }
    },
    take: (id) => {
      const steps = left.get(id);
      left.delete(id);
      return steps;
    },
    keep,
    drop: (id) => {
      if (open !== undefined) write((store) => store.dropCase(id));
    },
    notes: () => [
      ...(told ?? []),
      ...(failure === undefined
        ? []
        : [`the waiting cases could not be kept for a run that continues this one: ${failure}`]),
    ],
    remove: () => {
      const keyName = open?.keyName;
      close();
      if (keyName === undefined) return;
      removeFile(file);
      removeKey(options.keys, keyName);
    },
    close,
  };
};

const create = (file: string, { keys, target, freshUuid, read }: CheckpointOptions) => {
  const keyName = freshUuid();
  const vault = vaultWith(makeKey(keys, keyName, read().wallMs));
  closeSync(openSync(file, "wx", fileMode));
  const database = new DatabaseSync(file);
  // The lock is held as long as the process lives, which tells others that it does. Writes need not survive a crash of
  // the machine.
  database.exec("pragma locking_mode = exclusive; pragma synchronous = off;");
  database.exec(schema);
  const write = database.prepare("insert into meta (key, value) values (?, ?)");
  write.run("version", Uint8Array.of(storeVersion));
  write.run("key name", Buffer.from(keyName));
  write.run("target", Buffer.from(target));
  return { store: storeIn(database, vault), keyName };
};

const removeFile = (file: string): void => {
  for (const side of ["", "-journal"]) rmSync(file + side, { force: true });
};

interface Before {
  readonly cases: ReadonlyMap<string, readonly KeptStep[]>;
  readonly notes: readonly string[];
}

/** File name of checkpoints of earlier versions, in a format that is no longer read. */
const FORMER_FILE = "awaited.sqlite";

/** Nothing to continue, for these reasons. */
const nothing = (...notes: readonly string[]): Before => ({ cases: new Map(), notes });

/**
 * Takes over an earlier run's checkpoint and deletes it there, because a second run continuing with the same
 * credentials would find them used up.
 */
const takeOver = (run: string, options: CheckpointOptions): Before => {
  const file = path.join(run, recordFiles.checkpoint);
  if (existsSync(path.join(run, FORMER_FILE)))
    return nothing(`${run} was written by an earlier version: its waiting cases start again`);
  if (!existsSync(file)) return nothing();
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec("pragma locking_mode = exclusive; begin exclusive");
    return readAll(database, options);
  } catch (error) {
    if (error instanceof Error && /is locked/.test(error.message))
      throw new ConfigurationError(
        `--resume ${run}: a process is still working on it; accepted is a run that was interrupted or killed`,
      );
    return nothing(`the waiting cases of ${run} cannot be read: ${fileReason(error)}`);
  } finally {
    const isMine = database?.isTransaction === true;
    database?.close();
    if (isMine) removeFile(file);
  }
};

const readAll = (database: DatabaseSync, { keys, target, read }: CheckpointOptions): Before => {
  const meta = new Map(
    database
      .prepare("select key, value from meta")
      .all()
      .map(({ key, value }) => [String(key), Buffer.from(value as Uint8Array)]),
  );
  const keyName = meta.get("key name")?.toString() ?? "";
  const count = Number(database.prepare("select count(*) as count from entries").get()?.["count"]);
  const lost = (reason: string): Before => nothing(...(count === 0 ? [] : [beginAgain(count, reason)]));
  if (meta.get("version")?.[0] !== storeVersion) return lost("another version of Touchstone kept them");
  const key = /^[\w-]+$/.test(keyName) ? findKey(keys, keyName) : undefined;
  if (key === undefined) return lost("the key to their credentials is not on this machine");
  removeKey(keys, keyName);
  if (meta.get("target")?.toString() !== target) return lost("another target issued their credentials");
  const kept = storeIn(database, vaultWith(key)).cases();
  const cases = new Map<string, readonly KeptStep[]>();
  for (const { id, secret } of kept) {
    const steps = stepsOnClock(JSON.parse(secret) as KeptCase, read());
    if (steps !== undefined) cases.set(id, steps);
  }
  return { cases, notes: notesOn(cases.size, kept.length - cases.size) };
};

interface KeptCase {
  readonly steps: readonly KeptStep[];
  readonly keptAt: Reading;
}

const stepsOnClock = ({ steps, keptAt }: KeptCase, now: Reading): readonly KeptStep[] | undefined => {
  const moved = steps.flatMap((step) => {
    const at = onThisClock(step.at, keptAt, now);
    return at === undefined ? [] : [{ ...step, at }];
  });
  return moved.length === steps.length ? moved : undefined;
};

const clocksDisagree =
  "the machine's clocks do not agree on how long ago that was (it was restarted, it slept, or its clock was set)";

const notesOn = (known: number, lost: number): readonly string[] => [
  ...(known === 0 ? [] : [`${known} of its cases were waiting with their own credentials and are continued`]),
  ...(lost === 0 ? [] : [beginAgain(lost, clocksDisagree)]),
];

const beginAgain = (cases: number, reason: string): string =>
  `${cases} of its waiting cases start again: ${reason}`;
