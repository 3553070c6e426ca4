import { duration } from "../contract/duration.ts";
import { broke, held, setAside, type Judgement } from "../judgement.ts";
import { guardFor } from "../model/standing.ts";
import { ageBetween } from "../steps.ts";
import type { Bracket } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import type { Depositable, LedgerSession } from "./depositable.ts";
import type { Entry, Side } from "./entries.ts";

export type Claimed = Entry & { readonly secret: string };

/** Waits until the credential is due, asks it its one question, and settles it in the ledger once the answer stands. */
export const judgeEntry = async (
  session: LedgerSession,
  world: World,
  entry: Claimed,
  subject: Depositable,
): Promise<Judgement> => {
  const { ledger, hereMs, targetNow } = session;
  const reached = await whenDue(session, world, entry, subject);
  if (reached === undefined) {
    world.whenItStands(() => ledger.release(entry.id));
    return setAside("the target's clock did not move on to where the credential is due");
  }
  // A question that uses it up is asked once, whatever becomes of the answer, or of this process.
  if (subject.isUsedUp === true && !ledger.ask(entry.id)) {
    world.whenItStands(() => ledger.miss(entry.id, "it was asked, and the answer was lost", hereMs()));
    return setAside("it was asked before, and the answer was lost");
  }
  const works = await subject.alive(world, entry.secret);
  const after = await targetNow(world);
  const age = ageBetween(entry.issued, { earliestMs: reached.earliestMs, latestMs: after.latestMs });
  const seen = `${works ? "accepted" : "refused"} at an age of ${duration(age.leastMs)} to ${duration(age.greatestMs)}${driftOf(session, entry, reached)}`;
  const side = decisiveSide(entry, world, age);
  if (side === undefined) {
    world.whenItStands(() => ledger.miss(entry.id, `${seen}, too near to its end to say anything`, hereMs()));
    return setAside(`${seen}, inside the guard around the end`);
  }
  const isHeld = works === (side === "alive");
  world.whenItStands(() =>
    ledger.settle(
      entry.id,
      { held: isHeld, side, note: seen, age: { earliestMs: age.leastMs, latestMs: age.greatestMs } },
      hereMs(),
    ),
  );
  if (isHeld) return held;
  const promised =
    side === "alive"
      ? `the ${entry.subject} works for ${duration(entry.lifetimeMs)} from its issue`
      : `the ${entry.subject} is refused once ${duration(entry.lifetimeMs)} from its issue are over`;
  return broke(subject.promise?.(side) ?? promised, seen);
};

/** On which side of the end a probe surely was: it may have come later than it was aimed. */
const decisiveSide = (
  { lifetimeMs }: Entry,
  world: World,
  { leastMs, greatestMs }: ReturnType<typeof ageBetween>,
): Side | undefined => {
  const guardMs = guardFor(lifetimeMs, world.tolerances.lifetimeGuardMs);
  if (greatestMs < lifetimeMs - guardMs) return "alive";
  return leastMs > lifetimeMs + guardMs - 1 ? "dead" : undefined;
};

const MOST_SLEEPS = 4;
/** A window right before an end is no wider than this part of the lifetime; the later in it, the more a probe tells. */
const LAST_WINDOW = 1 / 8;
/** Where in such a window a probe is aimed at: the rest is room for its way. */
const AIM = 0.85;

const aimMs = ({ side, ages, lifetimeMs }: Entry): number => {
  const windowMs = ages.untilMs - ages.fromMs;
  return side === "alive" && windowMs <= lifetimeMs * LAST_WINDOW
    ? ages.fromMs + windowMs * AIM
    : ages.fromMs;
};

/** The target's time once the credential is due; undefined where it does not become so within what this run may wait. */
const whenDue = async (
  { targetNow, maxWaitMs }: LedgerSession,
  world: World,
  entry: Entry,
  { isAwaited }: Depositable,
): Promise<Bracket | undefined> => {
  let leftMs = maxWaitMs;
  for (let sleeps = 0; ; sleeps += 1) {
    const now = await targetNow(world);
    if (isAwaited !== true) return now;
    const { leastMs } = ageBetween(entry.issued, now);
    const waitMs = Math.min(leftMs, aimMs(entry) - leastMs);
    if (waitMs <= 0 || sleeps === MOST_SLEEPS) return leastMs >= entry.ages.fromMs ? now : undefined;
    await world.clock.sleep(waitMs);
    leftMs -= waitMs;
  }
};

/** Where this machine's clock and the target's went apart since the issue, the target's own timestamps count, and it is said. */
const driftOf = (session: LedgerSession, entry: Entry, now: Bracket): string => {
  const hereMs = session.hereMs() - entry.issuedHereMs;
  const thereMs = now.earliestMs - entry.issued.earliestMs;
  const apartMs = Math.abs(hereMs - thereMs);
  return apartMs < 60_000
    ? ""
    : ` by the target's clock; this machine's clock says ${duration(Math.max(0, hereMs))}, which is ${duration(apartMs)} away`;
};
