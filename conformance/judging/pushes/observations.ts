import { given } from "../../contract/given.ts";
import { documentLimits } from "../../contract/limits.ts";
import { canonicalJson, type Facts, type Verdict } from "../../contract/verdict.ts";
import type { PushRun, PushCase, SeenPush } from "./trace.ts";
import { usualAcknowledgementStatus } from "./answer.ts";
import { acknowledgedAt, bodyOf, ofPurpose, silentFirst } from "./cases.ts";
import { withoutPush } from "./finding.ts";
import { contentTypeOf } from "./delivery.ts";
import { documentedFields } from "./payload.ts";
import { timeoutClass } from "./timeouts.ts";
import { redirects } from "./advisory.ts";

/** What a push run shows about something that the document leaves open. Functions return undefined if it shows nothing. */
export interface Observation {
  readonly seen: unknown;
  readonly cases: number;
  readonly facts?: Facts;
}

export const observedVerdict = (observation: Observation | undefined): Verdict => {
  if (observation === undefined || observation.cases === 0) {
    const { why: reason, settle } = withoutPush("no push arrived that could show it");
    return { kind: "inconclusive", reason, settle, cases: 0 };
  }
  const { seen, cases, facts } = observation;
  return { kind: "observed", cases, fingerprint: canonicalJson(seen), ...given({ facts }) };
};

type Fate = "accepted" | "pushed again";

const fateOf = ({ pushes }: PushCase): Fate => (pushes.length > 1 ? "pushed again" : "accepted");

const fatesOf = (pushCases: readonly PushCase[]): Readonly<Record<string, Fate>> =>
  Object.fromEntries(pushCases.map((one) => [one.name, fateOf(one)]));

/** Of notifications whose first push alone was answered as planned, with the expected code and another body or not. */
const fatesAfter = (
  pushRun: PushRun,
  code: "the expected code" | "another code",
): Readonly<Record<string, Fate>> =>
  fatesOf(
    ofPurpose(pushRun, "open").filter(({ pushes: [first], actions: [planned, second] }) => {
      if (first === undefined || second === undefined || planned?.kind !== "answer") return false;
      const { status = usualAcknowledgementStatus } = planned;
      const isExpected = status === pushRun.acknowledgedStatus;
      return first.line.status === status && isExpected === (code === "the expected code");
    }),
  );

/** Answers that began with a success code but were not delivered whole. */
const isOpenCut = ({ expect, pushes: [first] }: PushCase): boolean =>
  expect.kind === "open" && (first?.line.action === "close" || first?.line.action === "hang");

export const observeAcknowledgementBody = (pushRun: PushRun): Observation => {
  const seen = fatesAfter(pushRun, "the expected code");
  const [fate, another] = new Set(Object.values(seen));
  const decides = fate === "accepted" ? "code alone decides" : "code and body decide";
  const cutAnswers = fatesOf(pushRun.pushCases.filter(isOpenCut));
  return {
    seen,
    cases: Object.keys(seen).length,
    facts: {
      readings: fate === undefined || another !== undefined ? [] : [decides],
      ...(Object.keys(cutAnswers).length === 0 ? {} : { cutAnswers }),
    },
  };
};

export const observeAcceptedCodes = (pushRun: PushRun): Observation => {
  const seen = fatesAfter(pushRun, "another code");
  const prompt = ofPurpose(pushRun, "prompt").filter((one) => acknowledgedAt(one, pushRun) === 0);
  const shown = prompt.find(({ pushes }) => pushes.length > 1) ?? prompt[0];
  const expected = shown === undefined ? {} : { [pushRun.acknowledgedStatus]: fateOf(shown) };
  return { seen: { ...seen, ...expected }, cases: Object.keys(seen).length };
};

/** Real time does not shrink with the limits, so its classes use the document's first delay. */
const REAL_FIRST_DELAY_MS = documentLimits.pushDelaysMs[0] ?? 0;
/** Below this, timeouts in real time are classed by milliseconds. */
const SHORT_MS = 700;
const SHORT_FIRST_DELAY_MS = REAL_FIRST_DELAY_MS / 10;

export const observeSenderTimeout = (pushRun: PushRun): Observation => {
  const hung = silentFirst(pushRun).flatMap(({ pushes: [first] }) => first ?? []);
  const classes = [...new Set(hung.map((first) => waitOf(first, pushRun)))].toSorted();
  return { seen: classes.length === 1 ? classes[0] : classes, cases: hung.length };
};

const waitOf = ({ line, at, ended }: SeenPush, { limits, clock, hungInRealTime }: PushRun): string => {
  if (ended === undefined || line.outcome !== "abandoned")
    return hungInRealTime ? "longer, in real time, than the run waited" : "longer than the run watched";
  if (hungInRealTime)
    return `${timeoutClass((line.answeredMs ?? 0) - line.firstByteMs, REAL_FIRST_DELAY_MS)}, in real time`;
  const waitedMs = ended.latestMs - at.latestMs;
  // A clock that is not moved runs in whole seconds, however the schedule was scaled.
  if (clock === "real")
    return timeoutClass(waitedMs, waitedMs < SHORT_MS ? SHORT_FIRST_DELAY_MS : REAL_FIRST_DELAY_MS);
  // If the end is only known to a step, the clock stopped at the end of a class of timeouts.
  const firstMs = limits.pushDelaysMs[0] ?? 1;
  return timeoutClass(waitedMs - Math.min(firstMs / 60, (ended.latestMs - ended.earliestMs) / 2), firstMs);
};

export const observeFollowedRedirects = (pushRun: PushRun): Observation => {
  const all = redirects(pushRun).map(({ status, followed }) => {
    const { method, bodyBytes = 0 } = followed?.line ?? {};
    const how = `followed with ${method}${bodyBytes > 0 ? " and the payload" : ""}`;
    return [status, followed === undefined ? "not followed" : how] as const;
  });
  return { seen: Object.fromEntries(all), cases: all.length };
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
