import { canonicalJson, type Facts, type Verdict } from "../contract/verdict.ts";
import type { Campaign, Specimen } from "./data.ts";
import { acknowledgedAt, bodyOf, ofPurpose } from "./finding.ts";
import { contentTypeOf, documentedFields } from "./judge-delivery.ts";
import { cutBody } from "./specimens.ts";
import { timeoutClass } from "./timeouts.ts";
import { followedRedirects, redirected } from "./judge-receiver.ts";

/** What a campaign shows of something that the document leaves open: undefined where it shows nothing. */
export interface Observation {
  readonly seen: unknown;
  readonly cases: number;
  readonly facts?: Facts;
}

export const observedVerdict = (observation: Observation | undefined): Verdict =>
  observation === undefined || observation.cases === 0
    ? {
        kind: "inconclusive",
        reason: "no push arrived that would show it",
        settle: "a service whose pushes reach the receiver",
        cases: 0,
      }
    : {
        kind: "observed",
        cases: observation.cases,
        fingerprint: canonicalJson(observation.seen),
        ...(observation.facts === undefined ? {} : { facts: observation.facts }),
      };

/** Whether a notification's first answer made the service push it again, by the name of that answer. */
const repeated = (specimens: readonly Specimen[]): Record<string, "accepted" | "pushed again"> =>
  Object.fromEntries(
    specimens
      .filter(({ pushes, actions: [planned] }) => {
        const [first] = pushes;
        return (
          first !== undefined && planned?.kind === "answer" && first.line.status === (planned.status ?? 200)
        );
      })
      .map(({ name, pushes }) => [
        name,
        pushes.length > 1 ? ("pushed again" as const) : ("accepted" as const),
      ]),
  );

/** push.acknowledgement-body. */
export const observeAcknowledgementBody = (campaign: Campaign): Observation => {
  const seen = repeated(ofPurpose(campaign, "body"));
  const kinds = new Set(Object.values(seen));
  const readings =
    kinds.size !== 1 ? [] : kinds.has("accepted") ? ["code alone decides"] : ["code and body decide"];
  const [cut] = ofPurpose(campaign, "kind").filter(({ name }) => name === cutBody);
  const halfABody =
    cut?.pushes[0]?.line.action === "close"
      ? { halfABody: cut.pushes.length > 1 ? "pushed again" : "accepted" }
      : {};
  return { seen, cases: Object.keys(seen).length, facts: { readings, ...halfABody } };
};

/** push.accepted-codes. */
export const observeAcceptedCodes = (campaign: Campaign): Observation => {
  const seen = repeated(ofPurpose(campaign, "code"));
  const prompt = ofPurpose(campaign, "prompt").filter((one) => acknowledgedAt(one, campaign) === 0);
  const expected =
    prompt.length === 0
      ? {}
      : {
          [campaign.acknowledgedStatus]: prompt.some(({ pushes }) => pushes.length > 1)
            ? "pushed again"
            : "accepted",
        };
  return { seen: { ...seen, ...expected }, cases: Object.keys(seen).length };
};

/** Real time knows no shorter limits: its classes are those of the document's first delay. */
const REAL_FIRST_DELAY_MS = 30_000;
/** Below this a time-out in real time is told in milliseconds. */
const SHORT_MS = 700;
const SHORT_FIRST_DELAY_MS = 3_000;

/** push.sender-timeout. */
export const observeSenderTimeout = (campaign: Campaign): Observation => {
  const firstMs = campaign.limits.pushDelaysMs[0] ?? 1;
  const hung = ofPurpose(campaign, "hang").filter(({ pushes: [first] }) => first?.line.action === "hang");
  const waits = hung.map(({ pushes: [first] }) => {
    if (first?.ended === undefined || first.line.outcome !== "abandoned")
      return campaign.hungInRealTime
        ? "longer in real time than was waited for"
        : "longer than was watched for";
    if (campaign.hungInRealTime) {
      const waitedMs = (first.line.answeredMs ?? 0) - first.line.firstByteMs;
      return `${timeoutClass(waitedMs, REAL_FIRST_DELAY_MS)}, in real time`;
    }
    // A clock that nobody moves knows no shorter seconds, whatever the schedule was divided by.
    if (campaign.clock === "real") {
      const waitedMs = first.ended.latestMs - first.at.latestMs;
      return timeoutClass(waitedMs, waitedMs < SHORT_MS ? SHORT_FIRST_DELAY_MS : REAL_FIRST_DELAY_MS);
    }
    // Where the end is known to a step only, the clock stopped where a class of time-outs ends.
    const slackMs = Math.min(firstMs / 60, (first.ended.latestMs - first.ended.earliestMs) / 2);
    return timeoutClass(first.ended.latestMs - first.at.latestMs - slackMs, firstMs);
  });
  const classes = [...new Set(waits)].toSorted();
  return { seen: classes.length === 1 ? classes[0] : classes, cases: hung.length };
};

/** push.follows-redirects. */
export const observeFollowedRedirects = (campaign: Campaign): Observation => {
  const followed = followedRedirects(campaign);
  const seen = Object.fromEntries(
    redirected(campaign).map((status) => {
      const push = followed.get(status);
      return [
        status,
        push === undefined
          ? "not followed"
          : `followed with ${push.line.method}${push.line.bodyBytes > 0 ? " and the payload" : ""}`,
      ];
    }),
  );
  return { seen, cases: Object.keys(seen).length };
};

/** push.order. */
export const observeOrder = ({ specimens }: Campaign): Observation | undefined => {
  const failing = specimens.find(({ family, purpose }) => family !== undefined && purpose === "never");
  const later = specimens.find(({ family, purpose }) => family !== undefined && purpose === "prompt");
  const [last, first] = [failing?.pushes.at(-1), later?.pushes[0]];
  if (failing === undefined || failing.pushes.length < 2 || last === undefined || first === undefined)
    return undefined;
  return {
    seen: { laterEvent: first.line.n > last.line.n ? "waits for the earlier one" : "does not wait" },
    cases: 1,
  };
};

/** push.headers. */
export const observeHeaders = ({ specimens }: Campaign): Observation => {
  const pushes = specimens.flatMap((specimen) => specimen.pushes);
  const always = commonTo(pushes.map((push) => push.line.headers.map(([name]) => name.toLowerCase())));
  const fields = commonTo(pushes.map((push) => Object.keys(bodyOf(push) ?? {})));
  const types = new Set(pushes.map(contentTypeOf));
  return {
    seen: {
      headers: always,
      contentType: [...types].toSorted(),
      furtherFields: fields.filter((name) => !documentedFields.includes(name)),
      template: fields.includes("Template"),
    },
    cases: pushes.length,
  };
};

/** What stands in every one of these lists, in order. */
const commonTo = (lists: readonly (readonly string[])[]): readonly string[] => {
  const [first = [], ...rest] = lists;
  return [...new Set(first)].filter((name) => rest.every((list) => list.includes(name))).toSorted();
};
