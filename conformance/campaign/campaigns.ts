import type { Prepared, Session } from "../session.ts";
import { ReceiverError } from "../world/receiver.ts";
import type { Campaign } from "./data.ts";
import { runCampaign } from "./run.ts";

/** The campaigns of one run: each runs once, when the first rule asks for it, and all rules share what it gave. */
export interface Campaigns {
  /** The first (0) campaign, or a further one that is to confirm what the first has shown. */
  nth(index: number): Promise<Campaign>;
}

/** Where a push came at once in the preflight, so long is waited in real time for one that is due. */
const LEAST_PATIENCE_MS = 40;
const MOST_PATIENCE_MS = 3_000;

export const campaignsOf = (
  session: Session,
  prepared: Prepared,
  requirements: ReadonlySet<string>,
): Campaigns => {
  const begun: Promise<Campaign>[] = [];
  const run = async (): Promise<Campaign> => {
    const { receiver, events } = session;
    if (receiver === undefined || events === undefined) throw new ReceiverError("there is none in this run");
    const clock = session.clocks.join();
    try {
      return await runCampaign({
        receiver,
        clock,
        lastAdvance: () => session.clocks.lastAdvance?.(),
        events,
        limits: session.limits,
        latenessMs: session.resolved.profile.tolerances?.latenessMs,
        acknowledgedStatus: session.acknowledgedStatus,
        patienceMs: Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, 3 * (prepared.pushLagMs ?? 0))),
        requirements,
        onLine: session.notePush,
      });
    } finally {
      clock.leave();
    }
  };
  return {
    nth: (index) => {
      // One after the other: two at once would take each other's listener away.
      const before =
        index === 0 ? Promise.resolve() : Promise.resolve(begun[index - 1]).catch(() => undefined);
      return (begun[index] ??= before.then(run));
    },
  };
};
