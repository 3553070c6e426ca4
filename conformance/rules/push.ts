import type { PushRun } from "../judging/pushes/trace.ts";
import type { Finding } from "../judging/pushes/finding.ts";
import {
  judgeAcknowledgedStops,
  judgeDelivered,
  judgeLateAcknowledgement,
  judgePayload,
  judgeSameNotification,
} from "../judging/pushes/delivery.ts";
import { judgeCap } from "../judging/pushes/cap.ts";
import { judgeRetries } from "../judging/pushes/retries.ts";
import { judgeIndependence } from "../judging/pushes/independence.ts";
import { judgeSchedule } from "../judging/pushes/schedule.ts";
import { pushRunMs } from "../pushes/span.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Rule, Rules } from "../checks/rule.ts";
import type { Run } from "../checks/run.ts";
import { ControlFailed } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { pushesAreListed } from "./push-listed.ts";

/** What all push rules have in common: they are judged by the one push run that all of them share. */
export const fromPushRun = {
  needs: ["pushes"],
  writes: true,
  waitsMs: ({ limits }) => pushRunMs(limits, undefined),
} as const satisfies Partial<Rule>;

export const pushRunOf = ({ pushRun }: World): PushRun => {
  if (pushRun === undefined) throw new ControlFailed("this run has watched no pushes");
  return pushRun;
};

/** The verdict of a finding. The push run itself is repeated elsewhere, where a breach is to be confirmed. */
export const judged = async (run: Run, judge: (pushRun: PushRun) => Finding): Promise<Verdict> => {
  let settle: string | undefined;
  const verdict = await run.once(
    (world) => {
      const finding = judge(pushRunOf(world));
      settle = finding.settle;
      if (finding.judgement.kind === "failed") world.addEvidence(finding.evidence ?? []);
      return Promise.resolve(finding);
    },
    { replays: 0 },
  );
  return verdict.kind === "inconclusive" && settle !== undefined ? { ...verdict, settle } : verdict;
};

/** Sections 4.5 and 6: what is pushed, and for how long. */
export const pushRules = {
  everyEventArrives: {
    requirement: "push.delivered",
    ...fromPushRun,
    check: (_world, run) => judged(run, judgeDelivered),
  },

  pushesCarryTheNotification: {
    requirement: "push.payload",
    ...fromPushRun,
    check: (_world, run) => judged(run, judgePayload),
  },

  whatIsPushedIsListed: {
    requirement: "push.listed",
    ...fromPushRun,
    check: (_world, run) => run.once((world) => pushesAreListed(world, pushRunOf(world)), { replays: 0 }),
  },

  acknowledgementEndsPushes: {
    requirement: "push.acknowledged-stops",
    ...fromPushRun,
    looksLater: true,
    check: (_world, run) => judged(run, judgeAcknowledgedStops),
  },

  everyFailureIsFollowedByAPush: {
    requirement: "push.unacknowledged-retries",
    ...fromPushRun,
    check: (_world, run) => judged(run, judgeRetries),
  },

  pushesKeepTheSchedule: {
    requirement: "push.schedule",
    ...fromPushRun,
    timesPushes: true,
    check: (_world, run) => judged(run, judgeSchedule),
  },

  pushesAreCapped: {
    requirement: "push.cap",
    ...fromPushRun,
    looksLater: true,
    check: (_world, run) => judged(run, judgeCap),
  },

  everyPushCanBeAcknowledged: {
    requirement: "push.late-acknowledgement",
    ...fromPushRun,
    looksLater: true,
    check: (_world, run) => judged(run, judgeLateAcknowledgement),
  },

  pushesOfANotificationAreTheSame: {
    requirement: "push.same-notification",
    ...fromPushRun,
    check: (_world, run) => judged(run, judgeSameNotification),
  },

  schedulesAreIndependent: {
    requirement: "push.independent-schedules",
    ...fromPushRun,
    timesPushes: true,
    check: (_world, run) => judged(run, judgeIndependence),
  },
} satisfies Rules;
