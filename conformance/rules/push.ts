import type { Campaign } from "../campaign/data.ts";
import type { Finding } from "../campaign/finding.ts";
import {
  judgeAcknowledgedStops,
  judgeDelivered,
  judgeLateAcknowledgement,
  judgePayload,
  judgeSameNotification,
} from "../campaign/judge-delivery.ts";
import { judgeCap, judgeRetries } from "../campaign/judge-retries.ts";
import { judgeIndependence } from "../campaign/judge-independence.ts";
import { judgeSchedule } from "../campaign/judge-schedule.ts";
import { campaignMs } from "../campaign/span.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Rule, Rules } from "../rule.ts";
import type { Run } from "../run.ts";
import { ControlFailed } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { pushesAreListed } from "./push-listed.ts";

/** What all push rules have in common: they are judged by the one journey that all of them share. */
export const fromCampaign = {
  needs: ["pushes"],
  writes: true,
  waitsMs: ({ limits }) => campaignMs(limits, undefined),
} as const satisfies Partial<Rule>;

export const campaignOf = ({ campaign }: World): Campaign => {
  if (campaign === undefined) throw new ControlFailed("this run has watched no pushes");
  return campaign;
};

/** The verdict of a finding. The campaign itself is repeated elsewhere, where a breach is to be confirmed. */
export const judged = async (run: Run, judge: (campaign: Campaign) => Finding): Promise<Verdict> => {
  let settle: string | undefined;
  const verdict = await run.once(
    (world) => {
      const finding = judge(campaignOf(world));
      settle = finding.settle;
      if (finding.judgement.kind === "broke") world.exhibit(finding.evidence ?? []);
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
    ...fromCampaign,
    check: (_world, run) => judged(run, judgeDelivered),
  },

  pushesCarryTheNotification: {
    requirement: "push.payload",
    ...fromCampaign,
    check: (_world, run) => judged(run, judgePayload),
  },

  whatIsPushedIsListed: {
    requirement: "push.listed",
    ...fromCampaign,
    check: (_world, run) => run.once((world) => pushesAreListed(world, campaignOf(world)), { replays: 0 }),
  },

  acknowledgementEndsPushes: {
    requirement: "push.acknowledged-stops",
    ...fromCampaign,
    looksLater: true,
    check: (_world, run) => judged(run, judgeAcknowledgedStops),
  },

  everyFailureIsFollowedByAPush: {
    requirement: "push.unacknowledged-retries",
    ...fromCampaign,
    check: (_world, run) => judged(run, judgeRetries),
  },

  pushesKeepTheSchedule: {
    requirement: "push.schedule",
    ...fromCampaign,
    timesPushes: true,
    check: (_world, run) => judged(run, judgeSchedule),
  },

  pushesAreCapped: {
    requirement: "push.cap",
    ...fromCampaign,
    looksLater: true,
    check: (_world, run) => judged(run, judgeCap),
  },

  everyPushCanBeAcknowledged: {
    requirement: "push.late-acknowledgement",
    ...fromCampaign,
    looksLater: true,
    check: (_world, run) => judged(run, judgeLateAcknowledgement),
  },

  pushesOfANotificationAreTheSame: {
    requirement: "push.same-notification",
    ...fromCampaign,
    check: (_world, run) => judged(run, judgeSameNotification),
  },

  schedulesAreIndependent: {
    requirement: "push.independent-schedules",
    ...fromCampaign,
    timesPushes: true,
    check: (_world, run) => judged(run, judgeIndependence),
  },
} satisfies Rules;
