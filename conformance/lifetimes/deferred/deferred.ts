import type { DeferredCredential, Run } from "../../checks/rule.ts";
import { HOUR_MS, duration } from "../../contract/duration.ts";
import type { Verdict } from "../../contract/verdict.ts";
import { pass, discard, fail, type CaseVerdict } from "../../judging/case-verdict.ts";
import { type TimeInterval, ageBetween } from "../../judging/interval.ts";
import { dateOf, factsOfEntries, judgeEntries, type Subject } from "../../judging/lifetimes/deferred.ts";
import { dueWindow, type Entry, type Window } from "../../judging/lifetimes/entries.ts";
import { ControlFailed } from "../../world/exchange.ts";
import { timed } from "../../world/steps.ts";
import type { World } from "../../world/world.ts";
import type { Unlocked } from "../store/store.ts";
import { asJson, fromJson, targetNow, type LedgerSession } from "./session.ts";
import { ask } from "../play.ts";

/** Minimum time between deposits of one kind, in milliseconds; closer ones would show nothing more. */
const APART_MS = 12 * HOUR_MS;

/** A rule, its deferred credentials, and the world to probe them in. */
interface Deferring {
  readonly session: LedgerSession;
  readonly rule: string;
  readonly world: World;
  readonly probes: readonly DeferredCredential[];
}

/**
 * Judges what is due and deposits what later runs will judge. Short-lived credentials are deposited first and waited
 * for, as far as this run may wait.
 */
export const judgeByLedger = async (
  session: LedgerSession,
  rule: string,
  world: World,
  run: Run,
  probes: readonly DeferredCredential[],
): Promise<Verdict> => {
  const { store, target, hereMs, maxWaitMs } = session;
  const deferring: Deferring = { session, rule, world, probes };
  const now = await targetNow(session, world);
  store.expire(target, now, hereMs());
  await useWaiting(deferring);
  const areShort = probes.every(({ isShort }) => isShort === true);
  if (areShort) await depositAll(deferring, now);
  const due = store.due(target, rule, now, areShort ? maxWaitMs : 0);
  const verdict = await judgeDue(deferring, run, due, areShort);
  if (!areShort) await depositAll(deferring, now);
  const entries = store.entries(target).filter((one) => one.rule === rule);
  if (verdict === undefined || verdict.kind === "passed")
    return judgeEntries(
      entries,
      probes.map((probe) => subjectOf(probe, world)),
      { cases: verdict?.cases ?? 0, maxWaitMs },
    );
  return "cases" in verdict ? { ...verdict, facts: factsOfEntries(entries) } : verdict;
};

const windowsIn = (probe: DeferredCredential, lifetimeMs: number, world: World) =>
  probe.windows(lifetimeMs, world.tolerances.lifetimeGuardMs, world);

const subjectOf = (probe: DeferredCredential, world: World): Subject => {
  const lifetimeMs = probe.lifetimeMs(world);
  return {
    name: probe.name,
    lifetimeMs,
    windows: windowsIn(probe, lifetimeMs, world),
    isShort: probe.isShort === true,
  };
};

/** The verdict of this run's probes; undefined if all were discarded. */
const judgeDue = async (
  { session, probes }: Deferring,
  run: Run,
  due: readonly Unlocked[],
  areShort: boolean,
): Promise<Verdict | undefined> => {
  if (due.length === 0) return undefined;
  let discarded = 0;
  const verdict = await run.forEach(
    due,
    async (entry, world) => {
      const probe = probes.find(({ name }) => name === entry.subject);
      if (probe === undefined) return pass;
      const judged = await probeEntry(session, world, entry, probe);
      if (judged.kind === "discarded") world.evidence.onCommit(() => void (discarded += 1));
      return judged;
    },
    {
      replays: 0,
      ...(areShort ? { together: true } : {}),
      print: ({ subject, side, issued }) =>
        `${subject}, ${side === "alive" ? "before" : "after"} its end, issued ${dateOf(issued.earliestMs)}`,
    },
  );
  return discarded === due.length ? undefined : verdict;
};

const useWaiting = async ({ session, rule, world, probes }: Deferring): Promise<void> => {
  for (const { name, use } of probes) {
    if (use === undefined) continue;
    for (const { secret } of session.store.waiting(session.target, rule, name)) {
      const credential = fromJson(secret, world);
      if (credential !== undefined) await use(world, credential as never);
    }
  }
};

const depositAll = async (deferring: Deferring, now: TimeInterval): Promise<void> => {
  const { session, rule, world, probes } = deferring;
  for (const probe of probes) {
    const earlier = session.store
      .entries(session.target)
      .filter((one) => one.rule === rule && one.subject === probe.name && one.state === "waiting");
    const planned = windowsIn(probe, probe.lifetimeMs(world), world).all;
    for (const [index, window] of planned.entries())
      if (!earlier.some((one) => isSame(one, window) && isStillAhead(one, now, probe)))
        await depositOne(deferring, probe, index);
  }
};

const isSame = ({ side, ages }: Entry, window: Window): boolean =>
  side === window.side && ages.fromMs === window.fromMs;

/**
 * Whether another deposit would show nothing more. A short-lived entry that is already due is about to be judged, so it
 * does not count.
 */
const isStillAhead = (entry: Entry, now: TimeInterval, { isShort }: DeferredCredential): boolean =>
  now.earliestMs - entry.issued.latestMs < APART_MS &&
  (isShort !== true || dueWindow(entry).earliestMs > now.latestMs);

const depositOne = async (
  { session, rule, world }: Deferring,
  probe: DeferredCredential,
  index: number,
): Promise<void> => {
  const { store, target, hereMs } = session;
  const now = (): Promise<TimeInterval> => targetNow(session, world);
  const { value: credential, at: issued } = await timed({ clock: { now } }, () => probe.issue(world, 0));
  const lifetimeMs = probe.lifetimeOf?.(credential as never) ?? probe.lifetimeMs(world);
  const secret = asJson(credential);
  if (!(lifetimeMs > 0) || secret === undefined)
    throw new ControlFailed("the lifetime that the service states is not a positive number");
  const window = windowsIn(probe, lifetimeMs, world).all[index];
  if (window === undefined) return;
  const { side, ...ages } = window;
  const plan = { side, ages, lifetimeMs, issued, issuedHereMs: hereMs() };
  store.deposit({ target, rule, subject: probe.name, secret, plan });
};

/** Waits until the credential is due, probes it once, and settles its entry when the case's verdict is final. */
export const probeEntry = async (
  session: LedgerSession,
  world: World,
  entry: Unlocked,
  probe: DeferredCredential,
): Promise<CaseVerdict> => {
  const { store, hereMs } = session;
  const credential = fromJson(entry.secret, world);
  const reached = credential === undefined ? undefined : await whenDue(session, world, entry, probe);
  if (reached === undefined)
    return discard("the target's clock did not reach the moment at which the credential is due");
  // A probe that uses the credential up is sent only once, even if its answer or this process is lost.
  if (probe.isUsedUp === true && !store.ask(entry.id)) {
    world.evidence.onCommit(() => store.miss(entry.id, "it was probed, but the answer was lost", hereMs()));
    return discard("it was probed before, but the answer was lost");
  }
  const {
    probe: shown,
    side,
    verdict,
  } = await ask(
    world,
    probe,
    { ...entry, credential: credential as never },
    { now: () => targetNow(session, world), woken: reached },
  ).catch((error: unknown) => {
    if (probe.isUsedUp === true && error instanceof ControlFailed)
      world.evidence.onCommit(() =>
        store.miss(entry.id, world.secrets.mask(`its control failed: ${error.message}`), hereMs()),
      );
    throw error;
  });
  const refused = probe.inVain?.(credential as never) ?? "refused";
  const seen = `${shown.works ? "accepted" : refused} at an age of ${duration(shown.leastMs)} to ${duration(shown.greatestMs)}${driftOf(session, entry, reached)}`;
  if (side === undefined) {
    world.evidence.onCommit(() =>
      store.miss(entry.id, `${seen}, too close to its end to decide anything`, hereMs()),
    );
    return discard(`${seen}, inside the guard around the end`);
  }
  const held = verdict.kind === "passed";
  const age = { earliestMs: shown.leastMs, latestMs: shown.greatestMs };
  world.evidence.onCommit(() => store.settle(entry.id, { held, side, note: seen, age }, hereMs()));
  return verdict.kind === "failed"
    ? fail(probe.promise?.(side) ?? verdict.expected, seen, verdict.shownBy)
    : verdict;
};

const MOST_SLEEPS = 4;
/**
 * The window right before an end is at most this share of the lifetime wide; the later a probe falls in it, the more it
 * shows.
 */
const LAST_WINDOW = 1 / 8;
/** Where in that window a probe is aimed; the rest is room for delays. */
const AIM = 0.85;

const aimMs = ({ side, ages, lifetimeMs }: Entry): number => {
  const widthMs = ages.untilMs - ages.fromMs;
  return side === "alive" && widthMs <= lifetimeMs * LAST_WINDOW ? ages.fromMs + widthMs * AIM : ages.fromMs;
};

/** The target's time once the credential is due; undefined if that takes longer than this run may wait. */
const whenDue = async (
  session: LedgerSession,
  world: World,
  entry: Entry,
  { isShort }: DeferredCredential,
): Promise<TimeInterval | undefined> => {
  let leftMs = session.maxWaitMs;
  for (let sleeps = 0; ; sleeps += 1) {
    const now = await targetNow(session, world);
    if (isShort !== true) return now;
    const { leastMs } = ageBetween(entry.issued, now);
    const waitMs = Math.min(leftMs, aimMs(entry) - leastMs);
    if (waitMs <= 0 || sleeps === MOST_SLEEPS) return leastMs >= entry.ages.fromMs ? now : undefined;
    await world.clock.sleep(waitMs);
    leftMs -= waitMs;
  }
};

/** The target's own timestamps count even if this machine's clock drifted from them since issue; then the text says so. */
const driftOf = ({ hereMs }: LedgerSession, entry: Entry, now: TimeInterval): string => {
  const byHereMs = hereMs() - entry.issuedHereMs;
  const apartMs = Math.abs(byHereMs - (now.earliestMs - entry.issued.earliestMs));
  return apartMs < 60_000
    ? ""
    : ` by the target's clock; this machine's clock says ${duration(Math.max(0, byHereMs))}, a difference of ${duration(apartMs)}`;
};
