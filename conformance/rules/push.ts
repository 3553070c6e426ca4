import { pageOf, describe } from "../answers.ts";
import type { Campaign, SeenPush, Specimen } from "../campaign/data.ts";
import { bodyOf, type Finding } from "../campaign/finding.ts";
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
import { allHold, broke, held, setAside, type Judgement } from "../judgement.ts";
import type { Rule, Rules } from "../rule.ts";
import { mapLimited, type Run } from "../run.ts";
import { obtainTokens } from "../steps.ts";
import { ControlFailed } from "../world/exchange.ts";
import { untilListed } from "../world/listing.ts";
import type { World } from "../world/world.ts";

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
    check: (_world, run) => run.once(pushesAreListed, { replays: 0 }),
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

const LOOKUPS_AT_A_TIME = 6;
/** status may change when a notification is acknowledged, and its transitions are not shown. */
const comparedFields = ["id", "accountId", "createTime", "businessType", "businessStatus", "remark", "data"];

/** push.listed: every notification that was pushed, looked up by its id. */
const pushesAreListed = async (world: World): Promise<{ judgement: Judgement; cases: number }> => {
  const pushed = campaignOf(world).specimens.flatMap((specimen) => {
    const [first] = specimen.pushes;
    return first === undefined ? [] : [{ specimen, first }];
  });
  if (pushed.length === 0) throw new ControlFailed("no push arrived");
  const { accessToken } = await obtainTokens(world);
  const judgements = await mapLimited(pushed, LOOKUPS_AT_A_TIME, ({ specimen, first }) =>
    isListed(world, accessToken, specimen, first),
  );
  return { judgement: allHold(judgements), cases: judgements.filter(({ kind }) => kind === "held").length };
};

const isListed = async (
  world: World,
  accessToken: string,
  { accountId }: Specimen,
  first: SeenPush,
): Promise<Judgement> => {
  const body = bodyOf(first);
  const id = body?.["id"];
  if (body === undefined || typeof id !== "string") return setAside("the push names no id");
  let answer = await world.target.list({ accessToken, query: { id } });
  const itemIn = () =>
    pageOf(answer)?.items.find(
      (one) => typeof one["id"] === "string" && one["id"].toLowerCase() === id.toLowerCase(),
    );
  // A service may index in real time, however far its clock was moved.
  if (itemIn() === undefined)
    await untilListed(world, async () => {
      answer = await world.target.list({ accessToken, query: { id } });
      return itemIn() !== undefined;
    });
  const item = itemIn();
  if (item === undefined) {
    world.exhibit([first]);
    return broke(
      "what was pushed is listed under its id",
      `a list request with its id got ${describe(answer)}`,
    );
  }
  const differing = comparedFields.filter((name) => item[name] !== body[name]);
  if (differing.length === 0) return held;
  world.exhibit([first]);
  return broke(
    "what was pushed is listed with the same fields",
    `${differing.join(", ")} of a notification of account ${accountId} differ${differing.length === 1 ? "s" : ""} between push and list`,
  );
};
