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
import type { PushRun } from "../judging/pushes/trace.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Rules } from "../checks/rule.ts";
import type { World } from "../world/world.ts";
import { fromPushRun, judged, judges, pushRunOf } from "./push.ts";

/** A rule that records what the document leaves open. */
const observes = (observe: (pushRun: PushRun) => Observation | undefined) => ({
  ...fromPushRun,
  check: (world: World): Promise<Verdict> => Promise.resolve(observedVerdict(observe(pushRunOf(world)))),
});

/** Sections 4.5 and 6: what is good practice with pushes, and what the document leaves open. */
export const pushObservations = {
  "push.no-head-of-line-blocking": judges(judgeHeadOfLine, { timesPushes: true }),
  "push.certificate-check": {
    ...fromPushRun,
    check: (world, run) =>
      pushRunOf(world).outages.some(({ kind }) => kind === "untrusted")
        ? judged(
            run,
            (pushRun) =>
              judgeCertificateCheck(pushRun) as NonNullable<ReturnType<typeof judgeCertificateCheck>>,
          )
        : Promise.resolve({
            kind: "not-applicable",
            by: "profile",
            reason: "the receiver is spoken to without TLS and shows no certificate",
          }),
  },
  "push.redirects": judges(judgeRedirects),
  "push.acknowledgement-body": observes(observeAcknowledgementBody),
  "push.accepted-codes": observes(observeAcceptedCodes),
  "push.sender-timeout": observes(observeSenderTimeout),
  "push.follows-redirects": observes(observeFollowedRedirects),
  "push.order": observes(observeOrder),
  "push.headers": observes(observeHeaders),
} satisfies Rules;
