import { documentLimits } from "../../contract/limits.ts";
import { canonicalJson, type Facts, type Verdict } from "../../contract/verdict.ts";
import type { PushRun, PushCase } from "./trace.ts";
import type { PushAction } from "../../contract/push.ts";
import { usualAcknowledgementStatus } from "./answer.ts";
import { acknowledgedAt, bodyOf, ofPurpose, silentFirst } from "./finding.ts";
import { contentTypeOf } from "./delivery.ts";
import { documentedFields } from "./payload.ts";
import { timeoutClass } from "./timeouts.ts";
import { followedRedirects, redirected } from "./advisory.ts";

/** What a push run shows about something that the document leaves open. Functions return undefined if it shows nothing. */
export interface Observation {
  readonly seen: unknown;
  readonly cases: number;
  readonly facts?: Facts;
}

export const observedVerdict = (observation: Observation | undefined): Verdict =>
  observation === undefined || observation.cases === 0
    ? {
        kind: "inconclusive",
        reason: "no push arrived that could show it",
        settle: "a service whose pushes reach the receiver",
        cases: 0,
      }
    : {
        kind: "observed",
        cases: observation.cases,
        fingerprint: canonicalJson(observation.seen),
        ...(observation.facts === undefined ? {} : { facts: observation.facts }),
      };

const repeatedAfter = (pushCases: readonly PushCase[]): Record<string, "accepted" | "pushed again"> =>
  Object.fromEntries(
    pushCases.map(({ name, pushes }) => [name, pushes.length > 1 ? "pushed again" : "accepted"]),
  );

/** Like `repeatedAfter`, for notifications whose first push was answered as planned. */
const repeated = (pushCases: readonly PushCase[]): Record<string, "accepted" | "pushed again"> =>
  repeatedAfter(
    pushCases.filter(
      ({ pushes: [first], actions: [planned] }) =>
        first !== undefined && planned?.kind === "answer" && first.line.status === (planned.status ?? 200),
    ),
  );

/** Notifications whose first answer alone leaves open whether it acknowledges. */
const openOnce = (pushRun: PushRun): readonly PushCase[] =>
  ofPurpose(pushRun, "open").filter(
    ({ actions: [first, second] }) => first?.kind === "answer" && second !== undefined,
  );

const statusOf = (action: PushAction | undefined): number | undefined =>
  action?.kind === "answer" ? (action.status ?? usualAcknowledgementStatus) : undefined;

/** Answers that began with a success code but were not delivered whole. */
const isOpenCut = ({ expect, pushes: [first] }: PushCase): boolean =>
  expect.kind === "open" && (first?.line.action === "close" || first?.line.action === "hang");

export const observeAcknowledgementBody = (pushRun: PushRun): Observation => {
  const seen = repeated(
    openOnce(pushRun).filter(({ actions: [first] }) => statusOf(first) === pushRun.acknowledgedStatus),
  );
  const kinds = new Set(Object.values(seen));
  const readings =
    kinds.size !== 1 ? [] : kinds.has("accepted") ? ["code alone decides"] : ["code and body decide"];
  const cuts = repeatedAfter(pushRun.pushCases.filter(isOpenCut));
  return {
    seen,
    cases: Object.keys(seen).length,
    facts: { readings, ...(Object.keys(cuts).length === 0 ? {} : { cutAnswers: cuts }) },
  };
};

export const observeAcceptedCodes = (pushRun: PushRun): Observation => {
  const seen = repeated(
    openOnce(pushRun).filter(({ actions: [first] }) => statusOf(first) !== pushRun.acknowledgedStatus),
  );
  const prompt = ofPurpose(pushRun, "prompt").filter((one) => acknowledgedAt(one, pushRun) === 0);
  const expected =
    prompt.length === 0
      ? {}
      : {
          [pushRun.acknowledgedStatus]: prompt.some(({ pushes }) => pushes.length > 1)
            ? "pushed again"
            : "accepted",
        };
  return { seen: { ...seen, ...expected }, cases: Object.keys(seen).length };
};

/** Real time does not shrink with the limits, so its classes use the document's first delay. */
const REAL_FIRST_DELAY_MS = documentLimits.pushDelaysMs[0] ?? 0;
/** Below this, timeouts in real time are classed by milliseconds. */
const SHORT_MS = 700;
const SHORT_FIRST_DELAY_MS = REAL_FIRST_DELAY_MS / 10;

export const observeSenderTimeout = (pushRun: PushRun): Observation => {
  const firstMs = pushRun.limits.pushDelaysMs[0] ?? 1;
  const hung = silentFirst(pushRun);
  const waits = hung.map(({ pushes: [first] }) => {
    if (first?.ended === undefined || first.line.outcome !== "abandoned")
      return pushRun.hungInRealTime
        ? "longer, in real time, than the run waited"
        : "longer than the run watched";
    if (pushRun.hungInRealTime) {
      const waitedMs = (first.line.answeredMs ?? 0) - first.line.firstByteMs;
      return `${timeoutClass(waitedMs, REAL_FIRST_DELAY_MS)}, in real time`;
    }
    // A clock that is not moved runs in whole seconds, however the schedule was scaled.
    if (pushRun.clock === "real") {
      const waitedMs = first.ended.latestMs - first.at.latestMs;
      return timeoutClass(waitedMs, waitedMs < SHORT_MS ? SHORT_FIRST_DELAY_MS : REAL_FIRST_DELAY_MS);
    }
    // If the end is only known to a step, the clock stopped at the end of a class of timeouts.
    const slackMs = Math.min(firstMs / 60, (first.ended.latestMs - first.ended.earliestMs) / 2);
    return timeoutClass(first.ended.latestMs - first.at.latestMs - slackMs, firstMs);
  });
  const classes = [...new Set(waits)].toSorted();
  return { seen: classes.length === 1 ? classes[0] : classes, cases: hung.length };
};

export const observeFollowedRedirects = (pushRun: PushRun): Observation => {
  const followed = followedRedirects(pushRun);
  const seen = Object.fromEntries(
    redirected(pushRun).map((status) => {
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
export const observeOrder = ({ pushCases }: PushRun): Observation | undefined => {
  const failing = pushCases.find(({ family, purpose }) => family !== undefined && purpose === "never");
  const later = pushCases.find(({ family, purpose }) => family === failing?.family && purpose === "prompt");
  const [last, first] = [failing?.pushes.at(-1), later?.pushes[0]];
  if (failing === undefined || failing.pushes.length < 2 || last === undefined || first === undefined)
    return undefined;
  return {
    seen: { laterEvent: first.line.n > last.line.n ? "waits for the earlier one" : "does not wait" },
    cases: 1,
  };
};

export const observeHeaders = ({ pushCases }: PushRun): Observation => {
  const pushes = pushCases.flatMap((pushCase) => pushCase.pushes);
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

/** The strings that appear in every list, sorted. */
const commonTo = (lists: readonly (readonly string[])[]): readonly string[] => {
  const [first = [], ...rest] = lists;
  return [...new Set(first)].filter((name) => rest.every((list) => list.includes(name))).toSorted();
};
