import type { Prepared } from "../world/world.ts";
import type { Session } from "../session/session.ts";
import { ReceiverError } from "../world/receiver.ts";
import { proofOf } from "../checks/breach.ts";
import type { Missing, PushRun } from "../judging/pushes/trace.ts";
import { describe, unlessUndecided } from "../world/exchange.ts";
import { obtainTokens } from "../world/steps.ts";
import { newScope } from "../world/evidence/journal.ts";
import { findListed, type Listed } from "../world/listing.ts";
import type { JoinedClock } from "../world/clock.ts";
import type { LookUp } from "../pushes/list-looks.ts";
import { runPushRun, type RunningPushRun } from "../pushes/run.ts";
import type { PushRunOptions } from "../pushes/state.ts";

/** The push runs of one run. Each runs once, when the first rule asks for it, and all rules share its result. */
export type PushRuns = ReturnType<typeof pushRunsOf>;

/** Bounds on the real time to wait for a due push, if a push came at once in the preflight, in milliseconds. */
const LEAST_PATIENCE_MS = 40;
const MOST_PATIENCE_MS = 3_000;

/** Rules that depend on lookups in the list: whether notifications are listed, and still pushed after being read. */
const readers = ["push.listed", "push.unacknowledged-retries", "push.schedule"];

export const pushRunsOf = (
  session: Session,
  prepared: Prepared,
  requirements: ReadonlySet<string>,
  seed: number,
  { isEnough, onWatch }: Pick<PushRunOptions, "isEnough" | "onWatch"> = {},
) => {
  const begun: Promise<RunningPushRun>[] = [];
  const looked: Promise<PushRun>[] = [];
  const run = async (): Promise<RunningPushRun> => {
    const { receiver, events } = session;
    if (receiver === undefined || events === undefined) throw new ReceiverError("there is none in this run");
    const { tolerances, concurrency, hooks } = session.resolved.profile;
    return holdingAClock(session, (clock) =>
      runPushRun({
        receiver,
        clock,
        target: session.pushClocks,
        events,
        limits: session.limits,
        latenessMs: tolerances?.latenessMs,
        resolutionShare: tolerances?.pushResolutionShare,
        acknowledgedStatus: session.acknowledgedStatus,
        hangsInRealTime: hooks?.clock?.faketime !== undefined,
        patienceMs: Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, 3 * (prepared.pushLagMs ?? 0))),
        signal: session.signal,
        maxWaitMs: session.maxWaitMs,
        onWatch,
        eventsPerSecond: concurrency?.eventsPerSecond,
        requirements,
        onLine: session.notePush,
        seed,
        visibilityMs: session.tolerances.visibilityMs,
        isEnough,
        ...(readers.some((id) => requirements.has(id)) ? { lookUp: lookUpIn(session, prepared, clock) } : {}),
      }),
    );
  };
  const nth = (index: number): Promise<RunningPushRun> => {
    // One after another: concurrent push runs would close each other's listener.
    const before = Promise.allSettled([begun[index - 1], looked[index - 1]]);
    return (begun[index] ??= index === 0 ? run() : before.then(run));
  };
  return {
    /** The first (0) push run, or a further one to confirm what the first has shown. */
    nth: async (index: number): Promise<PushRun> => (await nth(index)).pushRun,
    /** The same, after its notifications were checked again long after its watch. */
    later: (index: number): Promise<PushRun> =>
      (looked[index] ??= nth(index).then(({ later }) => holdingAClock(session, later))),
  };
};

const holdingAClock = async <T>(
  { pushClocks }: Session,
  task: (clock: JoinedClock) => Promise<T>,
): Promise<T> => {
  const clock = pushClocks.join();
  try {
    return await task(clock);
  } finally {
    clock.leave();
  }
};

/**
 * Looks a notification up by id and account, with fresh tokens each time, because they may be short-lived. A failed read
 * does not mean that a notification is missing.
 */
const lookUpIn =
  (session: Session, prepared: Prepared, clock: JoinedClock): LookUp =>
  (id, accountId) => {
    const scope = newScope("push.listed");
    const missing = async (): Promise<Missing | undefined> => {
      const world = session.world(scope, clock, prepared);
      const { accessToken } = await obtainTokens(world);
      const notShown = ({ answer }: Listed): Missing => ({
        said: describe(answer),
        exchanges: proofOf(scope.exchanges, [answer.exchange]),
      });
      const byId = await findListed(world, accessToken, { id }, id);
      if (byId.item === undefined) return notShown(byId);
      const byAccount = await findListed(world, accessToken, { accountId }, id);
      return byAccount.item === undefined && byAccount.isWhole ? notShown(byAccount) : undefined;
    };
    return unlessUndecided(missing(), undefined);
  };
