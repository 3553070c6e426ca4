import type { PushRun } from "../judging/pushes/trace.ts";
import type { Finding } from "../judging/pushes/finding.ts";
import {
  judgeAcknowledgedStops,
  judgeDelivered,
  judgeLateAcknowledgement,
  judgeSameNotification,
} from "../judging/pushes/delivery.ts";
import { judgePayload } from "../judging/pushes/payload.ts";
import { judgeCap } from "../judging/pushes/cap.ts";
import { judgeRetries } from "../judging/pushes/retries.ts";
import { judgeIndependence } from "../judging/pushes/independence.ts";
import { judgeSchedule } from "../judging/pushes/schedule.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { OfPushes, Rules, Run } from "../checks/rule.ts";
import type { World } from "../world/world.ts";
import { judgeCertificateCheck, judgeHeadOfLine, judgeRedirects } from "../judging/pushes/advisory.ts";
import {
  observeAcceptedCodes,
  observeAcknowledgementBody,
  observedVerdict,
  observeFollowedRedirects,
  observeHeaders,
  observeOrder,
  observeSenderTimeout,
  type Observation,
} from "../judging/pushes/observations.ts";

export const pushRunOf = ({ prepared: { pushRun } }: World): PushRun => {
  if (pushRun === undefined) throw new Error("a push rule is judged by a push run");
  return pushRun;
};

/** The verdict of a finding. To confirm a breach, the push run itself is repeated elsewhere. */
const judged = (run: Run, judge: (pushRun: PushRun) => Finding): Promise<Verdict> =>
  run.once(
    (world) => {
      const { judgement, cases, facts, evidence = [] } = judge(pushRunOf(world));
      if (judgement.kind === "failed") world.evidence.addPushes(evidence);
      return Promise.resolve({ ...judgement, cases, facts });
    },
    { replays: 0 },
  );

/** A rule that judges the trace of the push run. */
const judges = (judge: (pushRun: PushRun) => Finding, pushes: OfPushes) => ({
  pushes,
  check: (_world: World, run: Run) => judged(run, judge),
});

/** Sections 4.5 and 6: what is pushed, and for how long. */
export const pushRules = {
  "push.delivered": judges(judgeDelivered, { restsOnTime: true, needsNoRetry: true }),
  "push.payload": judges(judgePayload, { standsEarly: true, needsNoRetry: true }),
  "push.acknowledged-stops": judges(judgeAcknowledgedStops, {
    looksLater: true,
    restsOnTime: true,
    standsEarly: true,
  }),
  "push.unacknowledged-retries": judges(judgeRetries, { restsOnTime: true, standsEarly: true }),
  "push.schedule": judges(judgeSchedule, { restsOnTime: true, standsEarly: true }),
  "push.cap": judges(judgeCap, { looksLater: true, standsEarly: true }),
  "push.late-acknowledgement": judges(judgeLateAcknowledgement, {
    looksLater: true,
    restsOnTime: true,
    standsEarly: true,
  }),
  "push.same-notification": judges(judgeSameNotification, { standsEarly: true }),
  "push.independent-schedules": judges(judgeIndependence, { restsOnTime: true }),
} satisfies Rules;

/** A rule that records what the document leaves open. */
const observes = (observe: (pushRun: PushRun) => Observation | undefined, pushes: OfPushes = {}) => ({
  pushes,
  check: (world: World): Promise<Verdict> => Promise.resolve(observedVerdict(observe(pushRunOf(world)))),
});

/** Sections 4.5 and 6: good practice of senders, and what the document leaves open. */
export const pushObservations = {
  "push.no-head-of-line-blocking": judges(judgeHeadOfLine, { restsOnTime: true, needsNoRetry: true }),
  "push.certificate-check": {
    pushes: { standsEarly: true, needsNoRetry: true },
    check: async (world, run) => {
      const finding = judgeCertificateCheck(pushRunOf(world));
      if (finding !== undefined) return judged(run, () => finding);
      const reason = "the receiver uses plain HTTP and shows no certificate";
      return { kind: "not-applicable", by: "profile", reason };
    },
  },
  "push.redirects": judges(judgeRedirects, { standsEarly: true, needsNoRetry: true }),
  "push.acknowledgement-body": observes(observeAcknowledgementBody),
  "push.accepted-codes": observes(observeAcceptedCodes),
  "push.sender-timeout": observes(observeSenderTimeout),
  "push.follows-redirects": observes(observeFollowedRedirects, { needsNoRetry: true }),
  "push.order": observes(observeOrder),
  "push.headers": observes(observeHeaders, { needsNoRetry: true }),
} satisfies Rules;
