import { lastingFields } from "../laws/notification.ts";
import { duration } from "../../contract/duration.ts";
import { pathIn } from "../../contract/text.ts";
import { canonicalJson } from "../../contract/verdict.ts";
import { tolerances } from "../tolerances.ts";
import type { PushRun, PushTrace, SeenPush, PushCase } from "./trace.ts";
import { UNDISTURBED } from "./blind.ts";
import { senderOf } from "./sender.ts";
import { isRedirected, requestText, unmatchedOf } from "./unmatched.ts";
import {
  acknowledgedAt,
  bodyOf,
  isShortened,
  findingOf,
  decidedFinding,
  mayHaveTimedOut,
  sentOverOpen,
  namelessPushes,
  ofPurpose,
  pushCount,
  pushesAfter,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";

/**
 * push.delivered: sections 4.5 and 6. Events whose first push is refused or meets an untrusted certificate
 * are judged with the retries.
 */
export const judgeDelivered = (pushRun: PushRun): Finding => {
  const lost = new Set(
    senderOf(pushRun).best.explanations.flatMap(({ lost, journal: { pushCase, arrivals } }) =>
      lost > 0 && arrivals.length === 0 ? [pushCase.name] : [],
    ),
  );
  const finding = judgeArrival({
    ...pushRun,
    pushCases: pushRun.pushCases.filter(({ name }) => !lost.has(name)),
  });
  return lost.size === 0 || finding.judgement.kind === "failed"
    ? finding
    : undecidedFinding(
        `the push of an event may have been on a connection that broke before the receiver could read it (${[...lost].join(", ")})`,
        { settle: UNDISTURBED, facts: finding.facts },
      );
};

/** Whether an event was watched until its first push was overdue in every reading. */
export const isWatchedForFirst = ({ triggered }: PushCase, trace: PushTrace): boolean => {
  const { limits, latenessMs, watchedUntil } = trace;
  const firstMs = limits.pushDelaysMs[0] ?? 0;
  const lateMs = Math.max(latenessMs, tolerances.firstPushLatenessShare.default * firstMs);
  return watchedUntil.earliestMs - triggered.latestMs > firstMs + lateMs;
};

/** What the event was triggered for, to be found in the service's own log. */
const subjectOf = ({ notificationId, accountId }: PushCase): string =>
  `account ${accountId}${notificationId === undefined ? "" : `, notification ${notificationId} by the hook's answer`}`;

const judgeArrival = (pushRun: PushRun): Finding => {
  const path = new URL(pushRun.callbackUrl).pathname;
  const events = pushRun.pushCases.filter(({ purpose }) => purpose !== "refused" && purpose !== "untrusted");
  const expected = `each event, and each retry, arrives as a POST with JSON at ${path}`;
  const nameless = namelessPushes(pushRun);
  const saysJson = events.every(({ pushes: [first] }) => first === undefined || isJsonType(first));
  const parts = events.map((pushCase): Part | undefined => {
    const { pushes } = pushCase;
    const [unmatched] = unmatchedOf(pushCase, pushRun).filter(({ line }) => line.action === "not-a-push");
    if (pushes.length === 0) {
      if (nameless.length > 0) return undefined;
      const instead = unmatched ?? strangerOf(pushRun);
      return {
        expected,
        actual:
          instead === undefined
            ? `nothing came for an event (${pushCase.name}, ${subjectOf(pushCase)}) within ${duration(pushRun.watchedUntil.earliestMs - pushCase.triggered.latestMs)}`
            : `for an event ${requestText(instead)} came, which the receiver did not recognize as a push`,
        evidence: instead === undefined ? [] : [instead],
        lacking: instead === undefined ? pushCase : undefined,
      };
    }
    if (unmatched !== undefined)
      return {
        expected,
        actual: `for an event that had been pushed before, ${requestText(unmatched)} came, which the receiver did not recognize as a push`,
        evidence: [...pushes.slice(0, 1), unmatched],
      };
    const wrong = pushes.find((push) => faultOf(push, path, saysJson) !== undefined);
    return wrong === undefined
      ? "passed"
      : {
          expected,
          actual: `push ${pushes.indexOf(wrong) + 1} of an event came as ${requestText(wrong)} with ${faultOf(wrong, path, saysJson) ?? ""}`,
          evidence: [wrong],
        };
  });
  const decided = parts.filter((part) => part !== undefined);
  const finding = findingOf(decided, "no event was triggered", { events: events.length });
  return finding.judgement.kind === "failed" || decided.length === events.length
    ? finding
    : undecidedFinding(
        `${nameless.length} pushes name no notification, so they may belong to the ${events.length - decided.length} events for which no other push came`,
      );
};

/**
 * What is wrong with a push's request. The document asks for JSON and names no header; but if every first
 * push says that it is JSON, a later one that does not is not a repetition of it.
 */
const faultOf = (push: SeenPush, path: string, saysJson: boolean): string | undefined => {
  const { method, path: at } = push.line;
  if (bodyOf(push) === undefined && !isShortened(push)) return "a body that is not a JSON object";
  if (method !== "POST" || pathIn(at) !== path) return "JSON";
  return saysJson && !isJsonType(push)
    ? `${contentTypeOf(push) === "none" ? "no content type" : `the content type ${contentTypeOf(push)}`}, while first pushes declare JSON`
    : undefined;
};

/** The content type in lower case without spaces; "none" if there is none. */
export const contentTypeOf = ({ line }: SeenPush): string =>
  line.headers
    .find(([name]) => name.toLowerCase() === "content-type")?.[1]
    .toLowerCase()
    .replaceAll(" ", "") ?? "none";

const isJsonType = (push: SeenPush): boolean =>
  /^(application|text)\/([\w.-]+\+)?json(;|$)/.test(contentTypeOf(push));

/** A request that is not a push and names nothing, so it may belong to an event that was never pushed. */
const strangerOf = ({ others }: PushRun): SeenPush | undefined =>
  others.find((push) => push.line.action === "not-a-push" && !isRedirected(push));

/** push.acknowledged-stops: section 6. */
export const judgeAcknowledgedStops = (pushRun: PushRun): Finding => {
  const parts = pushRun.pushCases
    .filter((pushCase) => acknowledgedAt(pushCase, pushRun) === 0)
    .map((pushCase) => endOfPushes(pushCase, 0, pushRun));
  return decidedFinding(parts, "no first push was acknowledged", undefined, PUSHED_AGAIN, pushRun);
};

const PUSHED_AGAIN = "were pushed again after an acknowledgement";

/** Undecided if the sender may have given up on the acknowledged push or on an earlier one. */
export const endOfPushes = (pushCase: PushCase, index: number, trace: PushTrace): Part | "undecided" => {
  const further = pushesAfter(pushCase, index);
  const [first] = further;
  const acknowledged = pushCase.pushes[index];
  if (first === undefined || acknowledged === undefined) return "passed";
  if (mayHaveTimedOut(acknowledged, trace) || sentOverOpen(pushCase, trace) > 0) return "undecided";
  return {
    expected: `a notification is not pushed again once its push ${index + 1} has been acknowledged`,
    actual: `${pushCount(further.length)} came after that (${pushCase.name}), the first ${sinceText(acknowledged, first)}`,
    evidence: [acknowledged, ...further.slice(0, 3)],
  };
};

const sinceText = (earlier: SeenPush, later: SeenPush): string =>
  `${duration(Math.max(0, later.at.latestMs - earlier.at.earliestMs))} later at most`;

/** push.late-acknowledgement: follows from section 6. */
export const judgeLateAcknowledgement = (pushRun: PushRun): Finding => {
  const { maxPushes } = pushRun.limits;
  const most = Math.max(0, ...ofPurpose(pushRun, "never").map(({ pushes }) => pushes.length));
  const late = ofPurpose(pushRun, "late");
  const parts: (Part | "undecided")[] = [];
  const numbers = new Set<number>();
  for (const pushCase of pushRun.pushCases) {
    const index = acknowledgedAt(pushCase, pushRun);
    if (index < 0) continue;
    numbers.add(index + 1);
    parts.push(endOfPushes(pushCase, index, pushRun));
  }
  const missed = late.find(
    (pushCase) =>
      acknowledgedAt(pushCase, pushRun) < 0 &&
      pushCase.actions.length <= Math.min(most, maxPushes) &&
      !numbers.has(pushCase.actions.length),
  );
  const facts = { acknowledgedAtPush: [...numbers].toSorted((a, b) => a - b) };
  if (parts.some((part) => part !== "passed")) return decidedFinding(parts, "", facts, PUSHED_AGAIN, pushRun);
  if (missed !== undefined)
    return undecidedFinding(`push ${missed.actions.length}, which was to be acknowledged, did not come`, {
      facts,
    });
  if (![...numbers].some((n) => n > 1))
    return undecidedFinding(
      "no notification was pushed a second time, so no later push could be acknowledged",
      { facts },
    );
  return decidedFinding(parts, "", facts, PUSHED_AGAIN, pushRun);
};

/** The fields in which a later push's body is known to differ from the first; undefined if it is not a JSON object. */
export const differingFields = (first: SeenPush, later: SeenPush): readonly string[] | undefined => {
  if (later.line.bodySha256 === first.line.bodySha256 || isShortened(first) || isShortened(later)) return [];
  const [a, b] = [bodyOf(first), bodyOf(later)];
  if (b === undefined) return undefined;
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b)]);
  return [...names].filter((name) => canonicalJson(a?.[name]) !== canonicalJson(b[name]));
};

/** Fields that must be the same at every push. */
const fixedFields: ReadonlySet<string> = new Set([...lastingFields, "Template"]);

export const samePart = ({ pushes: [first, ...later] }: Pick<PushCase, "pushes">): Part => {
  if (first === undefined) return "passed";
  for (const push of later) {
    const differing = differingFields(first, push);
    const documented = differing?.filter((name) => fixedFields.has(name)) ?? [];
    if (differing !== undefined && documented.length === 0) continue;
    return {
      expected: SAME,
      actual:
        differing === undefined
          ? `push ${push.line.attempt} is not a JSON object, unlike the first`
          : `a later push differs from the first in ${documented.join(", ")}`,
      evidence: [first, push],
    };
  }
  return "passed";
};

const SAME =
  "all pushes of a notification have the same id and the same documented fields, except for status";

/** push.same-notification: follows from section 6. */
export const judgeSameNotification = (pushRun: PushRun): Finding => {
  const parts = pushRun.pushCases.flatMap((pushCase): Part[] => {
    const [first, ...later] = pushCase.pushes;
    if (first === undefined) return [];
    const [unmatched] = unmatchedOf(pushCase, pushRun).filter(({ line }) => line.action !== "not-a-push");
    if (unmatched === undefined) return later.length === 0 ? [] : [samePart(pushCase)];
    return [
      {
        expected: SAME,
        actual:
          "a later push has a different structure from the first and does not carry the id in the same place",
        evidence: [first, unmatched],
      },
    ];
  });
  const repeated = pushRun.pushCases.flatMap(({ pushes: [first, ...later] }) =>
    first === undefined
      ? []
      : later
          .filter(({ line }) => line.bodySha256 !== first.line.bodySha256)
          .map((push) => differingFields(first, push)),
  );
  const loose = new Set(repeated.flatMap((names) => names?.filter((name) => !fixedFields.has(name)) ?? []));
  const onlyBytes = repeated.filter((names) => names?.length === 0).length;
  const facts = {
    ...(loose.size > 0 ? { furtherFieldsThatDiffer: [...loose].toSorted() } : {}),
    // Only white space or the order of fields differs; to a JSON parser the body is the same.
    ...(onlyBytes > 0 ? { pushesWrittenOtherwise: onlyBytes } : {}),
  };
  return findingOf(
    parts,
    "no notification was pushed more than once",
    Object.keys(facts).length > 0 ? facts : undefined,
  );
};
