import type { DeferredCredential } from "../../checks/rule.ts";
import { duration } from "../../contract/duration.ts";
import { discard, fail, type CaseVerdict } from "../../judging/case-verdict.ts";
import { ageBetween, type TimeInterval } from "../../judging/interval.ts";
import type { Entry } from "../../judging/lifetimes/entries.ts";
import { revived } from "../../world/durable-steps.ts";
import type { World } from "../../world/world.ts";
import type { Unlocked } from "../store/store.ts";
import { ask } from "../ask.ts";
import { targetNow, type LedgerSession } from "./session.ts";

/** Waits until the credential is due, asks it its one question, and settles it once the case's verdict is final. */
export const probeEntry = async (
  session: LedgerSession,
  world: World,
  entry: Unlocked,
  probe: DeferredCredential,
): Promise<CaseVerdict> => {
  const { store, hereMs } = session;
  const credential = revived(JSON.parse(entry.secret), world);
  const reached = credential === undefined ? undefined : await whenDue(session, world, entry, probe);
  if (reached === undefined) {
    world.evidence.onCommit(() => store.release(entry.id));
    return discard("the target's clock did not move on to where the credential is due");
  }
  // A question that uses it up is asked once, whatever becomes of the answer, or of this process.
  if (probe.isUsedUp === true && !store.ask(entry.id)) {
    world.evidence.onCommit(() => store.miss(entry.id, "it was asked, and the answer was lost", hereMs()));
    return discard("it was asked before, and the answer was lost");
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
  );
  const seen = `${shown.works ? "accepted" : "refused"} at an age of ${duration(shown.leastMs)} to ${duration(shown.greatestMs)}${driftOf(session, entry, reached)}`;
  if (side === undefined) {
    world.evidence.onCommit(() =>
      store.miss(entry.id, `${seen}, too near to its end to say anything`, hereMs()),
    );
    return discard(`${seen}, inside the guard around the end`);
  }
  const held = verdict.kind === "passed";
  const age = { earliestMs: shown.leastMs, latestMs: shown.greatestMs };
  world.evidence.onCommit(() => store.settle(entry.id, { held, side, note: seen, age }, hereMs()));
  return verdict.kind === "failed" ? fail(probe.promise?.(side) ?? verdict.expected, seen) : verdict;
};

const MOST_SLEEPS = 4;
/** A window right before an end is no wider than this part of the lifetime; the later in it, the more a probe tells. */
const LAST_WINDOW = 1 / 8;
/** Where in such a window a probe is aimed at: the rest is room for its way. */
const AIM = 0.85;

const aimMs = ({ side, ages, lifetimeMs }: Entry): number => {
  const widthMs = ages.untilMs - ages.fromMs;
  return side === "alive" && widthMs <= lifetimeMs * LAST_WINDOW ? ages.fromMs + widthMs * AIM : ages.fromMs;
};

/** The target's time once the credential is due; undefined where it does not become so within what this run may wait. */
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

/** Where this machine's clock and the target's went apart since the issue, the target's own timestamps count, and it is said. */
const driftOf = ({ hereMs }: LedgerSession, entry: Entry, now: TimeInterval): string => {
  const byHereMs = hereMs() - entry.issuedHereMs;
  const apartMs = Math.abs(byHereMs - (now.earliestMs - entry.issued.earliestMs));
  return apartMs < 60_000
    ? ""
    : ` by the target's clock; this machine's clock says ${duration(Math.max(0, byHereMs))}, which is ${duration(apartMs)} away`;
};
