import { judgeCertificateCheck, judgeHeadOfLine, judgeRedirects } from "../campaign/judge-receiver.ts";
import {
  observeAcceptedCodes,
  observeAcknowledgementBody,
  observedVerdict,
  observeFollowedRedirects,
  observeHeaders,
  observeOrder,
  observeSenderTimeout,
  type Observation,
} from "../campaign/observe.ts";
import type { Campaign } from "../campaign/data.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Rules } from "../rule.ts";
import type { World } from "../world/world.ts";
import { campaignOf, fromCampaign, judged } from "./push.ts";

const observed = (world: World, observe: (campaign: Campaign) => Observation | undefined): Promise<Verdict> =>
  Promise.resolve(observedVerdict(observe(campaignOf(world))));

/** Sections 4.5 and 6: what is good practice with pushes, and what the document leaves open. */
export const pushObservations = {
  hangingPushesHoldNothingUp: {
    requirement: "push.no-head-of-line-blocking",
    ...fromCampaign,
    timesPushes: true,
    check: (_world, run) => judged(run, judgeHeadOfLine),
  },

  untrustedReceiversGetNoPayload: {
    requirement: "push.certificate-check",
    ...fromCampaign,
    check: (world, run) =>
      campaignOf(world).disturbances.some(({ kind }) => kind === "untrusted")
        ? judged(
            run,
            (campaign) =>
              judgeCertificateCheck(campaign) as NonNullable<ReturnType<typeof judgeCertificateCheck>>,
          )
        : Promise.resolve({
            kind: "not-applicable",
            by: "profile",
            reason: "the receiver is spoken to without TLS and shows no certificate",
          }),
  },

  redirectsAreNotFollowedWithThePayload: {
    requirement: "push.redirects",
    ...fromCampaign,
    check: (_world, run) => judged(run, judgeRedirects),
  },

  wrongAcknowledgementBodies: {
    requirement: "push.acknowledgement-body",
    ...fromCampaign,
    check: (world) => observed(world, observeAcknowledgementBody),
  },

  acceptedCodes: {
    requirement: "push.accepted-codes",
    ...fromCampaign,
    check: (world) => observed(world, observeAcceptedCodes),
  },

  senderTimeout: {
    requirement: "push.sender-timeout",
    ...fromCampaign,
    check: (world) => observed(world, observeSenderTimeout),
  },

  followedRedirects: {
    requirement: "push.follows-redirects",
    ...fromCampaign,
    check: (world) => observed(world, observeFollowedRedirects),
  },

  orderOfEvents: {
    requirement: "push.order",
    ...fromCampaign,
    check: (world) => observed(world, observeOrder),
  },

  headersAndFurtherFields: {
    requirement: "push.headers",
    ...fromCampaign,
    check: (world) => observed(world, observeHeaders),
  },
} satisfies Rules;
