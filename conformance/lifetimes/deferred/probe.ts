import type { DeferredCredential } from "../../checks/rule.ts";
import { duration } from "../../contract/duration.ts";
import { discard, fail, type CaseVerdict } from "../../judging/case-verdict.ts";
import { ageBetween, type TimeInterval } from "../../judging/interval.ts";
import type { Entry } from "../../judging/lifetimes/entries.ts";
import { ControlFailed } from "../../world/exchange.ts";
import type { World } from "../../world/world.ts";
import type { Unlocked } from "../store/store.ts";
import { ask } from "../ask.ts";
import { fromJson, targetNow, type LedgerSession } from "./session.ts";

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
  if (reached === undefined) {
    world.evidence.onCommit(() => store.release(entry.id));
    return discard("the target's clock did not reach the moment at which the credential is due");
  }
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
