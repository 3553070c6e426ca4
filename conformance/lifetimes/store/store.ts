import { randomUUID } from "node:crypto";
import type { TimeInterval } from "../../judging/interval.ts";
import { dueWindow, type Entry, type EntryState, type Plan } from "../../judging/lifetimes/entries.ts";
import type { Side } from "../../judging/lifetimes/probe.ts";

export interface Settlement {
  readonly held: boolean;
  /** The side that the probe was really on; a late probe may be on the other side than planned. */
  readonly side: Side;
  readonly note: string;
  readonly age: TimeInterval;
}

/** An issued credential to be probed later, as it is put into the ledger. */
export interface Deposit {
  readonly target: string;
  readonly rule: string;
  readonly subject: string;
  /** Everything that a probe needs, as JSON. */
  readonly secret: string;
  readonly plan: Plan;
}

export type Unlocked = Entry & Pick<Deposit, "secret">;

/** Noted on an entry while its only probe is under way; stays if the answer or the run is lost. */
const ASKED = "a run probed it, but ended before it recorded the answer";
const UNSEEN = "no run happened while it was due";

const isAsked = ({ note }: Entry): boolean => note === ASKED;

const inOrder = <E extends Entry>(entries: Iterable<E>): readonly E[] =>
  [...entries].toSorted((a, b) => dueWindow(a).earliestMs - dueWindow(b).earliestMs);

/** The entries without their secrets, as they become due. */
export const listed = (entries: Iterable<Unlocked>, target?: string): readonly Entry[] =>
  inOrder(entries)
    .filter((one) => (target ?? one.target) === one.target)
    .map(
      (one) =>
        Object.fromEntries(Object.entries(one).filter(([key]) => key !== "secret")) as unknown as Entry,
    );

/**
 * What remains to be probed, and what was. Each change is saved before the next step: a killed run leaves an entry either
 * unchanged or changed. Nobody else has the ledger meanwhile.
 */
export const storeOf = (
  saved: readonly Unlocked[],
  save: (entries: readonly Unlocked[]) => void,
  close: () => void,
) => {
  const entries = new Map(saved.map((entry) => [entry.id, entry]));
  const keep = (): void => save([...entries.values()]);
  const change = (id: string, changes: Partial<Unlocked>): void => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.set(id, { ...entry, ...changes });
    keep();
  };
  const waiting = (target: string, rule?: string): readonly Unlocked[] =>
    inOrder(entries.values()).filter(
      (one) => one.state === "waiting" && one.target === target && (rule ?? one.rule) === one.rule,
    );
  // A judged or missed entry no longer needs its secret.
  const end = (id: string, state: EntryState, changes: Partial<Unlocked>): void =>
    change(id, { secret: "", ...changes, state });
  return {
    deposit: ({ target, rule, subject, secret, plan }: Deposit): void => {
      const id = randomUUID();
      entries.set(id, { ...plan, id, target, rule, subject, secret, state: "waiting" });
      keep();
    },
    /** The target's entries that are due now, by its clock, or within `aheadMs`, unless their only probe was sent before. */
    due: (target: string, rule: string, now: TimeInterval, aheadMs = 0): readonly Unlocked[] =>
      waiting(target, rule).filter((one) => {
        const { earliestMs, latestMs } = dueWindow(one);
        return !isAsked(one) && earliestMs <= now.earliestMs + aheadMs && latestMs >= now.latestMs;
      }),
    /** Records that an entry's only probe is about to be sent; false if it was sent before. */
    ask: (id: string): boolean => {
      const entry = entries.get(id);
      if (entry?.state !== "waiting" || isAsked(entry)) return false;
      change(id, { note: ASKED });
      return true;
    },
    /** Entries that are still to be probed, for credentials that are used before that. */
    waiting: (target: string, rule: string, subject: string): readonly Unlocked[] =>
      waiting(target, rule).filter((one) => one.subject === subject && !isAsked(one)),
    settle: (id: string, { held, side, note, age }: Settlement, hereMs: number): void =>
      end(id, "judged", { held, side, note, age, settledAtMs: hereMs }),
    /** Marks an entry as missed, with the reason. */
    miss: (id: string, note: string, hereMs: number): void =>
      end(id, "missed", { note, settledAtMs: hereMs }),
    /** Marks entries that expired unjudged, with the reason. */
    expire: (target: string, now: TimeInterval, hereMs: number): void => {
      for (const one of waiting(target))
        if (isAsked(one) || dueWindow(one).latestMs < now.earliestMs)
          end(one.id, "missed", { note: one.note ?? UNSEEN, settledAtMs: hereMs });
    },
    entries: (target?: string): readonly Entry[] => listed(entries.values(), target),
    close,
  };
};

export type Store = ReturnType<typeof storeOf>;
