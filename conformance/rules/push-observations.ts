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
import { pushRunOf, fromPushRun, judged } from "./push.ts";

const observed = (world: World, observe: (pushRun: PushRun) => Observation | undefined): Promise<Verdict> =>
  Promise.resolve(observedVerdict(observe(pushRunOf(world))));

/** Sections 4.5 and 6: what is good practice with pushes, and what the document leaves open. */
export const pushObservations = {
  hangingPushesHoldNothingUp: {
    requirement: "push.no-head-of-line-blocking",
    ...fromPushRun,
    timesPushes: true,
    check: (_world, run) => judged(run, judgeHeadOfLine),
  },

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

  redirectsAreNotFollowedWithThePayload: {
    requirement: "push.redirects",
    ...fromPushRun,
    check: (_world, run) => judged(run, judgeRedirects),
  },

  wrongAcknowledgementBodies: {
    requirement: "push.acknowledgement-body",
    ...fromPushRun,
    check: (world) => observed(world, observeAcknowledgementBody),
  },

  acceptedCodes: {
    requirement: "push.accepted-codes",
    ...fromPushRun,
    check: (world) => observed(world, observeAcceptedCodes),
  },

  senderTimeout: {
    requirement: "push.sender-timeout",
    ...fromPushRun,
    check: (world) => observed(world, observeSenderTimeout),
  },

  followedRedirects: {
    requirement: "push.follows-redirects",
    ...fromPushRun,
    check: (world) => observed(world, observeFollowedRedirects),
  },

  orderOfEvents: {
    requirement: "push.order",
    ...fromPushRun,
    check: (world) => observed(world, observeOrder),
  },

  headersAndFurtherFields: {
    requirement: "push.headers",
    ...fromPushRun,
    check: (world) => observed(world, observeHeaders),
  },
} satisfies Rules;
