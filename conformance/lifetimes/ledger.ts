import { randomUUID } from "node:crypto";
import type { DeferredCredential, Run } from "../checks/rule.ts";
import { HOUR_MS, duration } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import { pass, discard, fail, type CaseVerdict } from "../judging/case-verdict.ts";
import type { TimeInterval } from "../judging/interval.ts";
import {
  dateOf,
  factsOfEntries,
  isBrief,
  judgeEntries,
  lastSteps,
  type Entry,
  type LastSteps,
} from "../judging/lifetimes/entries.ts";
import { windowOf } from "../judging/lifetimes/script.ts";
import { ControlFailed, objectOf } from "../world/exchange.ts";
import { coarsenessMs, instantMs } from "../world/hooks/hooks.ts";
import { obtainTokens, timed } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { asJson, fromJson, type Ledger } from "./ledger-file.ts";
import { circumstancesOf, lifeOf, probeNow } from "./play.ts";

export interface LedgerAccess {
  readonly store: Ledger;
  /** This machine's wall clock, in milliseconds since 1970. */
  readonly hereMs: () => number;
}

export interface LedgerSession extends LedgerAccess {
  /** Entries of other targets are left alone; see `ledgerTarget`. */
  readonly target: string;
  /** How long this run may wait for a credential's end, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Identifies a target by its address and client. */
export const ledgerTarget = (baseUrl: string, clientId: string): string =>
  `${baseUrl.replace(/\/+$/, "")} ${clientId}`;

/** Minimum time between deposits of one kind, in milliseconds; closer ones would show nothing more. */
const APART_MS = 12 * HOUR_MS;

const UNSEEN = "no run happened while it was due";
/** Noted on an entry while its only probe is under way; stays if the answer or the run is lost. */
const ASKED = "a run probed it, but ended before it recorded the answer";

/** A rule, its credentials, and the world to probe them in, whose time is the target's own. */
interface Deferring {
  readonly session: LedgerSession;
  readonly rule: string;
  readonly world: World;
  readonly kinds: readonly DeferredCredential[];
}

/**
 * Plays what is left of a rule's scripts: probes what is due, and issues what later runs will probe. Brief credentials are
 * issued first and waited for, as far as this run may wait.
 */
export const judgeByLedger = async (
  session: LedgerSession,
  rule: string,
  world: World,
  run: Run,
  kinds: readonly DeferredCredential[],
): Promise<Verdict> => {
  const { store, target, maxWaitMs } = session;
  const deferring: Deferring = { session, rule, world: byTimestamps(session, world), kinds };
  const entries = (): readonly Entry[] =>
    store.entries().filter((one) => one.target === target && one.rule === rule);
  const now = await deferring.world.clock.now();
  endOverdue(session, entries(), now);
  await useWaiting(deferring, entries());
  const areBrief = kinds.every((kind) => isBrief(kind.lifetimeMs(world)));
  if (areBrief) await issueAll(deferring, entries(), now);
  const aheadMs = areBrief ? maxWaitMs : 0;
  const due = entries()
    .filter(
      ({ state, due: { earliestMs, latestMs } }) =>
        state === "waiting" && earliestMs <= now.earliestMs + aheadMs && latestMs >= now.latestMs,
    )
    .toSorted((a, b) => a.due.earliestMs - b.due.earliestMs);
  const verdict = await judgeDue(deferring, run, due, areBrief);
  if (!areBrief) await issueAll(deferring, entries(), now);
  if (verdict === undefined || verdict.kind === "passed")
    return judgeEntries(
      entries(),
      kinds.map((kind) => {
        const lifetimeMs = kind.lifetimeMs(world);
        return { name: kind.name, lifetimeMs, ...lastStepsOf(kind, lifetimeMs, world) };
      }),
      { cases: verdict?.cases ?? 0, maxWaitMs },
    );
  return "cases" in verdict ? { ...verdict, facts: factsOfEntries(entries()) } : verdict;
};

const lastStepsOf = ({ laterOnly }: DeferredCredential, lifetimeMs: number, world: World): LastSteps => {
  const guardMs = world.tolerances.lifetimeGuardMs;
  return laterOnly === undefined
    ? lastSteps(lifetimeMs, guardMs)
    : { steps: [laterOnly.step(lifetimeMs, guardMs, world)], nearMs: Infinity };
};

/** Nothing more is done with an entry. */
const end = (
  { store, hereMs }: LedgerSession,
  entry: Entry,
  how: Pick<Entry, "state" | "note" | "shown">,
): void => store.put({ ...entry, ...how, held: "", settledAtMs: hereMs() });

/** Ends what was not probed in time, or was, but by a run that was lost. */
const endOverdue = (session: LedgerSession, entries: readonly Entry[], now: TimeInterval): void => {
  for (const entry of entries)
    if (entry.state === "waiting" && (entry.note === ASKED || entry.due.latestMs < now.earliestMs))
      end(session, entry, { state: "missed", note: entry.note ?? UNSEEN });
};

const useWaiting = async ({ world, kinds }: Deferring, entries: readonly Entry[]): Promise<void> => {
  for (const { name, use } of kinds)
    for (const { state, subject, held } of entries) {
      if (use === undefined || state !== "waiting" || subject !== name) continue;
      const credential = fromJson(held, world);
      if (credential !== undefined) await use(world, credential as never);
    }
};

/** Plays the scripts of a rule until their credentials are issued, unless there are entries which will show the same. */
const issueAll = async (
  deferring: Deferring,
  earlier: readonly Entry[],
  now: TimeInterval,
): Promise<void> => {
  const { world, kinds } = deferring;
  for (const kind of kinds)
    for (const nth of lastStepsOf(kind, kind.lifetimeMs(world), world).steps.keys())
      if (!earlier.some((one) => one.subject === kind.name && one.nth === nth && isAhead(one, now)))
        await issueOne(deferring, kind, nth);
};

/** Whether an entry is young and still to be probed. One of a brief life that is due is about to be. */
const isAhead = ({ state, life, due }: Entry, now: TimeInterval): boolean =>
  state === "waiting" &&
  now.earliestMs - life.issued.latestMs < APART_MS &&
  (!isBrief(life.lifetimeMs) || due.earliestMs > now.latestMs);

const issueOne = async (
  { session, rule, world }: Deferring,
  kind: DeferredCredential,
  nth: number,
): Promise<void> => {
  const { value: credential, at } = await timed(world, () => kind.issue(world, 0));
  const life = lifeOf(world, kind, credential as never, at);
  const held = asJson(credential);
  if (!(life.lifetimeMs > 0) || held === undefined)
    throw new ControlFailed("the lifetime that the service states is not a positive number");
  const step = lastStepsOf(kind, life.lifetimeMs, world).steps[nth];
  if (step === undefined) return;
  session.store.put({
    id: randomUUID(),
    target: session.target,
    rule,
    subject: kind.name,
    nth,
    step,
    due: windowOf({ steps: [step] }, step, { beginMs: 0, beforeMs: 0, life }, circumstancesOf(world, 0, at)),
    life,
    issuedHereMs: session.hereMs(),
    held,
    state: "waiting",
  });
};

/** The verdict of this run's probes; undefined if all were discarded. */
const judgeDue = async (
  { session, kinds }: Deferring,
  run: Run,
  due: readonly Entry[],
  areBrief: boolean,
): Promise<Verdict | undefined> => {
  if (due.length === 0) return undefined;
  let discarded = 0;
  const verdict = await run.forEach(
    due,
    async (entry, world) => {
      const kind = kinds.find(({ name }) => name === entry.subject);
      if (kind === undefined) return pass;
      const judged = await probeEntry(session, world, entry, kind);
      if (judged.kind === "discarded") world.evidence.onCommit(() => void (discarded += 1));
      return judged;
    },
    {
      replays: 0,
      ...(areBrief ? { together: true } : {}),
      print: ({ subject, step, life }) =>
        `${subject}, ${step.at.side === "alive" ? "before" : "after"} its end, issued ${dateOf(life.issued.earliestMs)}`,
    },
  );
  return discarded === due.length ? undefined : verdict;
};

/** Waits until an entry is due, probes its credential once, and settles it when the case's verdict is final. */
export const probeEntry = async (
  session: LedgerSession,
  ownWorld: World,
  entry: Entry,
  kind: DeferredCredential,
): Promise<CaseVerdict> => {
  const world = byTimestamps(session, ownWorld);
  const settle = (how: Pick<Entry, "state" | "note" | "shown">): void =>
    world.evidence.onCommit(() => end(session, entry, how));
  const held = fromJson(entry.held, world) as never;
  const woken = held === undefined ? undefined : await world.clock.sleepUntil(aimMs(entry));
  if (woken === undefined || woken.earliestMs < entry.due.earliestMs)
    return discard("the target's clock did not reach the moment at which the credential is due");
  // A probe that uses the credential up is sent only once, even if its answer or this process is lost.
  if (kind.isUsedUp === true) {
    const kept = session.store.entries().find(({ id }) => id === entry.id);
    if (kept?.note === ASKED) {
      settle({ state: "missed", note: "it was probed, but the answer was lost" });
      return discard("it was probed before, but the answer was lost");
    }
    session.store.put({ ...entry, note: ASKED });
  }
  const { probe, side, verdict } = await probeNow(world, kind, { held, life: entry.life }, woken).catch(
    (error: unknown) => {
      if (kind.isUsedUp === true && error instanceof ControlFailed)
        settle({ state: "missed", note: world.secrets.mask(`its control failed: ${error.message}`) });
      throw error;
    },
  );
  const refused = kind.inVain?.(held) ?? "refused";
  const seen = `${probe.works ? "accepted" : refused} at an age of ${duration(probe.leastMs)} to ${duration(probe.greatestMs)}${driftOf(session, entry, woken)}`;
  if (side === undefined) {
    settle({ state: "missed", note: `${seen}, too close to its end to decide anything` });
    return discard(`${seen}, inside the guard around the end`);
  }
  settle({ state: "judged", note: seen, shown: probe });
  return verdict.kind === "failed"
    ? fail(kind.laterOnly?.promise ?? verdict.expected, seen, verdict.shownBy)
    : verdict;
};

/** The last window before an end is at most this share of the life wide; the later a probe falls in it, the more it shows. */
const LAST_WINDOW = 1 / 8;
/** Where in that window a run that may wait aims a probe; the rest is room for delays. */
const AIM = 0.85;

const aimMs = ({ step, due, life: { lifetimeMs } }: Entry): number => {
  const widthMs = due.latestMs - due.earliestMs;
  const isLast = step.at.side === "alive" && widthMs <= lifetimeMs * LAST_WINDOW;
  return due.earliestMs + (isBrief(lifetimeMs) && isLast ? widthMs * AIM : 0);
};

const MOST_SLEEPS = 4;

/** The same world by the target's own time, as its answers tell it: a life of weeks outlasts any clock of this process. */
const byTimestamps = ({ hereMs, maxWaitMs }: LedgerSession, world: World): World => {
  const now = async (): Promise<TimeInterval> => {
    const told = objectOf((await obtainTokens(world)).answer)["timestamp"];
    const earliestMs = instantMs(told);
    // Without a timestamp (section 2.2) it is this machine's time, within a second.
    return earliestMs === undefined
      ? { earliestMs: hereMs() - 1_000, latestMs: hereMs() + 1_000 }
      : { earliestMs, latestMs: earliestMs + Math.max(1, coarsenessMs(told)) };
  };
  const sleepUntil = async (momentMs: number): Promise<TimeInterval> => {
    let leftMs = maxWaitMs;
    for (let sleeps = 0; ; sleeps += 1) {
      const told = await now();
      const waitMs = Math.min(leftMs, momentMs - told.earliestMs);
      if (waitMs <= 0 || sleeps === MOST_SLEEPS) return told;
      await world.clock.sleep(waitMs);
      leftMs -= waitMs;
    }
  };
  return { ...world, clock: { ...world.clock, now, sleepUntil } };
};

/** The target's own timestamps count even if this machine's clock drifted from them since issue; then the text says so. */
const driftOf = ({ hereMs }: LedgerSession, { issuedHereMs, life }: Entry, now: TimeInterval): string => {
  const byHereMs = hereMs() - issuedHereMs;
  const apartMs = Math.abs(byHereMs - (now.earliestMs - life.issued.earliestMs));
  return apartMs < 60_000
    ? ""
    : ` by the target's clock; this machine's clock says ${duration(Math.max(0, byHereMs))}, a difference of ${duration(apartMs)}`;
};
