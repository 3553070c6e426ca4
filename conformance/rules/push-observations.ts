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
import type { TestableId } from "../contract/catalogue.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Rules } from "../checks/rule.ts";
import type { World } from "../world/world.ts";
import { fromPushRun, judged, judges, pushRunOf } from "./push.ts";

/** A rule that records what the document leaves open. */
const observes = <R extends TestableId>(
  requirement: R,
  observe: (pushRun: PushRun) => Observation | undefined,
) => ({
  requirement,
  ...fromPushRun,
  check: (world: World): Promise<Verdict> => Promise.resolve(observedVerdict(observe(pushRunOf(world)))),
});

/** Sections 4.5 and 6: what is good practice with pushes, and what the document leaves open. */
export const pushObservations = {
  hangingPushesHoldNothingUp: judges("push.no-head-of-line-blocking", judgeHeadOfLine, { timesPushes: true }),
  untrustedReceiversGetNoPayload: {
    requirement: "push.certificate-check",
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
  redirectsAreNotFollowedWithThePayload: judges("push.redirects", judgeRedirects),
  wrongAcknowledgementBodies: observes("push.acknowledgement-body", observeAcknowledgementBody),
  acceptedCodes: observes("push.accepted-codes", observeAcceptedCodes),
  senderTimeout: observes("push.sender-timeout", observeSenderTimeout),
  followedRedirects: observes("push.follows-redirects", observeFollowedRedirects),
  orderOfEvents: observes("push.order", observeOrder),
  headersAndFurtherFields: observes("push.headers", observeHeaders),
} satisfies Rules;
