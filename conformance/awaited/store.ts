import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileMode, fileReason, recordFiles } from "../contract/files.ts";
import { vaultWith, type Vault } from "../ledger/vault.ts";
import { ConfigurationError } from "../problem.ts";
import type { Reading } from "../world/clock.ts";
import type { Bracket } from "../world/exchange.ts";
import { onThisClock } from "./elapsed.ts";
import { findKey, makeKey, removeKey } from "./key.ts";

/** What a case did before it began to wait: the outcome of one step as JSON, and when that was on the run's clock. */
export interface KeptStep {
  readonly name: string;
  readonly value: unknown;
  readonly at: Bracket;
}

/** What cases of real time are waiting with. A case that is in here can be gone on with by another process. */
export interface Awaited {
  /** What a case of the run that this one continues had done, on this process's clock. Given once. */
  take(id: string): readonly KeptStep[] | undefined;
  keep(id: string, steps: readonly KeptStep[]): void;
  /** From here on nobody could go on with the case: its credential is about to be used up. */
  drop(id: string): void;
}

export interface AwaitedFile extends Awaited {
  /**
   * Takes over what the run that this one continues was waiting with; once it is certain that rules will run. Throws
   * ConfigurationError where a process is still at work on that run.
   */
  begin(): void;
  /** What became of that which the earlier run was waiting with, and whether this one could keep its own. */
  notes(): readonly string[];
  /** The run has come to its end: nothing is awaited, and nothing is left of it. */
  remove(): void;
  /** Lets go of the file, which stays for a run that continues this one. */
  close(): void;
}

export interface AwaitedOptions {
  /** The run's folder. */
  readonly directory: string;
  /** Folder of the run that this one continues. */
  readonly continues?: string | undefined;
  /** The target's address: what another one issued is of no use. */
  readonly target: string;
  /** Where the key lies that locks what the run's folder holds. */
  readonly keys: string;
  readonly read: () => Reading;
  readonly freshUuid: () => string;
}

/** What the cases of one rule are waiting with. */
export const awaitedOf = (all: Awaited, rule: string): Awaited => {
  const named = (id: string): string => `${rule}: ${id}`;
  return {
    take: (id) => all.take(named(id)),
    keep: (id, steps) => all.keep(named(id), steps),
    drop: (id) => all.drop(named(id)),
  };
};

interface Line {
  readonly steps: readonly KeptStep[];
  readonly keptAt: Reading;
}

const schema = `
  create table if not exists meta (key_name text not null, target text not null) strict;
  create table if not exists cases (id text primary key, locked blob not null) strict;
`;

/**
 * What the cases of a run are waiting with, beside its record: each change is on its way to the disk before the case
 * goes on, so that a run killed at any moment leaves those cases, and only those, that nobody has asked anything
 * decisive yet. Credentials are locked with a key that lies elsewhere, for a run's folder may be handed on.
 */
export const openAwaited = (options: AwaitedOptions): AwaitedFile => {
  const file = path.join(options.directory, recordFiles.awaited);
  const left = new Map<string, readonly KeptStep[]>();
  let told: readonly string[] = [];
  let failure: string | undefined;
  let open: Place | undefined;
  let isOver = false;
  /** Writes, and never stops a run that could not: it can be judged all the same, and only not gone on with. */
  const write = (change: (place: Place) => void): void => {
    if (failure !== undefined || isOver) return;
    try {
      open ??= create(file, options);
      change(open);
    } catch (error) {
      failure = fileReason(error);
    }
  };
  const keep = (id: string, steps: readonly KeptStep[]): void =>
    write(({ database, vault, keyName }) => {
      const line: Line = { steps, keptAt: options.read() };
      database
        .prepare("insert or replace into cases (id, locked) values (?, ?)")
        .run(id, vault.lock(JSON.stringify(line), placeOf(keyName, id)));
    });
  const close = (): void => {
    isOver = true;
    open?.database.close();
    open = undefined;
  };
  return {
    begin: () => {
      if (options.continues === undefined) return;
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
      if (open !== undefined)
        write(({ database }) => void database.prepare("delete from cases where id = ?").run(id));
    },
    notes: () => [
      ...told,
      ...(failure === undefined
        ? []
        : [`what this run waited with could not be kept for one that continues it: ${failure}`]),
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

/** Where a run keeps what it is waiting with. */
interface Place {
  readonly database: DatabaseSync;
  readonly vault: Vault;
  readonly keyName: string;
}

const create = (file: string, { keys, target, freshUuid, read }: AwaitedOptions): Place => {
  const keyName = freshUuid();
  const vault = vaultWith(makeKey(keys, keyName, read().wallMs));
  closeSync(openSync(file, "wx", fileMode));
  const database = new DatabaseSync(file);
  // Held for as long as the process lives, which tells others that it does. What a machine that died left is of no use anyway.
  database.exec("pragma locking_mode = exclusive; pragma synchronous = off;");
  database.exec(schema);
  database.prepare("insert into meta (key_name, target) values (?, ?)").run(keyName, target);
  return { database, vault, keyName };
};

const removeFile = (file: string): void => {
  for (const side of ["", "-journal"]) rmSync(file + side, { force: true });
};

interface Before {
  readonly cases: ReadonlyMap<string, readonly KeptStep[]>;
  readonly notes: readonly string[];
}

const nothing: Before = { cases: new Map(), notes: [] };

/**
 * Takes over what an earlier run was waiting with, and leaves nothing of it there: a second run that went on with the
 * same credentials would find them used up by the first.
 */
const takeOver = (run: string, options: AwaitedOptions): Before => {
  const file = path.join(run, recordFiles.awaited);
  if (!existsSync(file)) return nothing;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec("pragma locking_mode = exclusive; begin exclusive");
    return readAll(database, options);
  } catch (error) {
    if (isHeld(error))
      throw new ConfigurationError([
        `--resume ${run}: a process is still at work on it; accepted is a run that was interrupted or killed`,
      ]);
    return { cases: new Map(), notes: [`what ${run} was waiting with cannot be read: ${fileReason(error)}`] };
  } finally {
    const isMine = database?.isTransaction === true;
    database?.close();
    if (isMine) removeFile(file);
  }
};

const isHeld = (error: unknown): boolean => error instanceof Error && /is locked/.test(error.message);

const readAll = (database: DatabaseSync, { keys, target, read }: AwaitedOptions): Before => {
  const meta = database.prepare("select key_name, target from meta").get();
  const keyName = String(meta?.["key_name"] ?? "");
  const rows = database.prepare("select id, locked from cases").all();
  const lost = (reason: string): Before =>
    rows.length === 0 ? nothing : { cases: new Map(), notes: [anew(rows.length, reason)] };
  const key = /^[\w-]+$/.test(keyName) ? findKey(keys, keyName) : undefined;
  if (key === undefined) return lost("the key to their credentials is not on this machine");
  removeKey(keys, keyName);
  if (meta?.["target"] !== target) return lost("another target issued their credentials");
  const vault = vaultWith(key);
  return settled(
    rows.map(({ id, locked }) => {
      const line = JSON.parse(vault.open(locked as Uint8Array, placeOf(keyName, String(id)))) as Line;
      return [String(id), onClock(line, read())] as const;
    }),
  );
};

const placeOf = (keyName: string, id: string): string => `${keyName}\n${id}`;

const onClock = ({ steps, keptAt }: Line, now: Reading): readonly KeptStep[] | undefined => {
  const moved = steps.flatMap((step) => {
    const at = onThisClock(step.at, keptAt, now);
    return at === undefined ? [] : [{ ...step, at }];
  });
  return moved.length === steps.length ? moved : undefined;
};

const settled = (found: readonly (readonly [string, readonly KeptStep[] | undefined])[]): Before => {
  const known = found.flatMap(([id, steps]) => (steps === undefined ? [] : [[id, steps] as const]));
  const lost = found.length - known.length;
  return {
    cases: new Map(known),
    notes: [
      ...(known.length === 0
        ? []
        : [`${known.length} of its cases were waiting with credentials of their own, and are gone on with`]),
      ...(lost === 0
        ? []
        : [
            anew(
              lost,
              "the machine's clocks do not agree on how long ago that was (it was started anew, it slept, or its clock was set)",
            ),
          ]),
    ],
  };
};

const anew = (cases: number, reason: string): string =>
  `${cases} of its cases that were waiting begin anew: ${reason}`;
