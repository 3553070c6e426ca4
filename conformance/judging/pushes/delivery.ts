import { lastingFields } from "../laws/notification.ts";
import { duration } from "../../contract/duration.ts";
import { counted, pathIn } from "../../contract/text.ts";
import { canonicalJson } from "../../contract/verdict.ts";
import { tolerances } from "../tolerances.ts";
import type { PushRun, PushTrace, SeenPush, PushCase } from "./trace.ts";
import { lostOn } from "./blind.ts";
import {
  acknowledgedAt,
  bodyOf,
  isShortened,
  mayHaveTimedOut,
  movedOver,
  namelessPushes,
  ofPurpose,
  pushesAfter,
  isSentOverOpen,
  type Doubt,
  isRedirected,
  requestText,
  unmatchedOf,
} from "./cases.ts";
import type { Explanation } from "./explain.ts";
import {
  findingOf,
  NAMED,
  undecided,
  withoutPush,
  withoutRetry,
  type Finding,
  type Part,
} from "./finding.ts";
import { senderOf } from "./sender.ts";

/**
 * push.delivered: sections 4.5 and 6. Events whose first push is refused or meets an untrusted certificate
 * are judged with the retries.
 */
export const judgeDelivered = (pushRun: PushRun): Finding => {
  const events = senderOf(pushRun).best.explanations.filter(
    ({ journal: { pushCase } }) => pushCase.purpose !== "refused" && pushCase.purpose !== "untrusted",
  );
  const saysJson = events.every(({ journal }) => journal.pushCase.pushes.slice(0, 1).every(isJsonType));
  return findingOf(
    events.map(({ lost, journal: { pushCase } }) =>
      lost > 0 && pushCase.pushes.length === 0
        ? lostOn(pushRun, `one of ${pushCase.name}`)
        : arrivalPart(pushCase, pushRun, saysJson),
    ),
    withoutPush("no event was triggered"),
    { events: events.length },
    "may have been pushed",
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
const subjectOf = ({ name, notificationId, accountId }: PushCase): string =>
  `${name}, of account ${accountId}${notificationId === undefined ? "" : `, notification ${notificationId} by the hook's answer`}`;

const arrivalPart = (pushCase: PushCase, pushRun: PushRun, saysJson: boolean): Part | Doubt => {
  const { pushes, triggered } = pushCase;
  const nameless = namelessPushes(pushRun).length;
  if (pushes.length === 0 && nameless > 0)
    return { why: `${nameless} pushes name no notification and may belong to them`, settle: NAMED };
  const path = new URL(pushRun.callbackUrl).pathname;
  const broken = (actual: string, ...evidence: readonly SeenPush[]): Part => ({
    expected: `each event, and each retry, arrives as a POST with JSON at ${path}`,
    actual,
    evidence,
    name: subjectOf(pushCase),
  });
  const [unmatched] = unmatchedOf(pushCase, pushRun).filter(({ line }) => line.action === "not-a-push");
  const unrecognized = unmatched ?? (pushes.length === 0 ? strangerOf(pushRun) : undefined);
  if (unrecognized !== undefined)
    return broken(
      `for an event ${requestText(unrecognized)} came, which the receiver did not recognize as a push`,
      ...pushes.slice(0, 1),
      unrecognized,
    );
  if (pushes.length === 0) {
    const watchedMs = pushRun.watchedUntil.earliestMs - triggered.latestMs;
    return broken(`nothing came for an event within ${duration(watchedMs)}`);
  }
  for (const [index, push] of pushes.entries()) {
    const fault = faultOf(push, path, saysJson);
    if (fault !== undefined)
      return broken(`push ${index + 1} of an event came as ${requestText(push)} with ${fault}`, push);
  }
  return "passed";
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
export const judgeAcknowledgedStops = (pushRun: PushRun): Finding =>
  findingOf(
    endsOf(pushRun)
      .filter(({ index }) => index === 0)
      .map(({ part }) => part),
    withoutPush("no first push was acknowledged"),
    undefined,
    PUSHED_AGAIN,
  );

const PUSHED_AGAIN = "were pushed again after an acknowledgement";

/** All acknowledged notifications, each with the index of the acknowledged push. */
const endsOf = (pushRun: PushRun): readonly { readonly index: number; readonly part: Part | Doubt }[] =>
  senderOf(pushRun).best.explanations.flatMap((shown, at) => {
    const pushCase = pushRun.pushCases[at];
    const index = pushCase === undefined ? -1 : acknowledgedAt(pushCase, pushRun);
    return pushCase === undefined || index < 0
      ? []
      : [{ index, part: endOfPushes(pushCase, index, pushRun, shown) }];
  });

/** A doubt if the sender may have given up on the acknowledged push or on an earlier one. */
export const endOfPushes = (
  pushCase: PushCase,
  index: number,
  trace: PushTrace,
  shown?: Explanation,
): Part | Doubt => {
  const further = pushesAfter(pushCase, index);
  const [first] = further;
  const acknowledged = pushCase.pushes[index];
  if (first === undefined || acknowledged === undefined) return "passed";
  const doubt = mayHaveTimedOut(acknowledged, trace);
  if (doubt !== undefined) return doubt;
  if (isSentOverOpen(pushCase, trace)) return movedOver("more than a second");
  const sinceMs = Math.max(0, first.at.latestMs - acknowledged.at.earliestMs);
  return {
    expected: `a notification is not pushed again once its push ${index + 1} has been acknowledged`,
    actual: `${counted(further.length, "push", "pushes")} came after that, the first ${duration(sinceMs)} later at most`,
    evidence: [acknowledged, ...further.slice(0, 3)],
    name: pushCase.name,
    shown,
  };
};

/** push.late-acknowledgement: follows from section 6. */
export const judgeLateAcknowledgement = (pushRun: PushRun): Finding => {
  const { maxPushes } = pushRun.limits;
  const most = Math.max(0, ...ofPurpose(pushRun, "never").map(({ pushes }) => pushes.length));
  const ends = endsOf(pushRun);
  const parts = ends.map(({ part }) => part);
  const numbers = new Set(ends.map(({ index }) => index + 1));
  const facts = { acknowledgedAtPush: [...numbers].toSorted((a, b) => a - b) };
  const missed = ofPurpose(pushRun, "late")
    .filter((pushCase) => acknowledgedAt(pushCase, pushRun) < 0)
    .map(({ actions }) => actions.length)
    .find((number) => number <= Math.min(most, maxPushes) && !numbers.has(number));
  const none = withoutRetry(
    missed === undefined
      ? "no notification was pushed a second time, so no later push could be acknowledged"
      : `push ${missed}, which was to be acknowledged, did not come`,
  );
  const isTold = missed === undefined && [...numbers].some((n) => n > 1);
  return isTold || parts.some((part) => part !== "passed")
    ? findingOf(parts, none, facts, PUSHED_AGAIN)
    : undecided(none, facts);
};

/** The fields in which a later push's body is known to differ from the first; undefined if it is not a JSON object. */
const differingFields = (first: SeenPush, later: SeenPush): readonly string[] | undefined => {
  if (later.line.bodySha256 === first.line.bodySha256 || isShortened(first) || isShortened(later)) return [];
  const [a, b] = [bodyOf(first), bodyOf(later)];
  if (b === undefined) return undefined;
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b)]);
  return [...names].filter((name) => canonicalJson(a?.[name]) !== canonicalJson(b[name]));
};

/** Fields that must be the same at every push. */
const fixedFields: ReadonlySet<string> = new Set([...lastingFields, "Template"]);

const unlike = (actual: string, name: string, ...evidence: readonly SeenPush[]): Part => ({
  expected: "all pushes of a notification have the same id and the same documented fields, except for status",
  actual,
  evidence,
  name,
});

export const samePart = ({ name, pushes: [first, ...later] }: Pick<PushCase, "name" | "pushes">): Part => {
  if (first === undefined) return "passed";
  for (const push of later) {
    const differing = differingFields(first, push);
    const documented = differing?.filter((one) => fixedFields.has(one)) ?? [];
    const { attempt } = push.line;
    if (differing === undefined)
      return unlike(`push ${attempt} is not a JSON object, unlike the first`, name, first, push);
    if (documented.length > 0)
      return unlike(`push ${attempt} differs from the first in ${documented.join(", ")}`, name, first, push);
  }
  return "passed";
};

/** push.same-notification: follows from section 6. */
export const judgeSameNotification = (pushRun: PushRun): Finding => {
  const parts = pushRun.pushCases.flatMap((pushCase): Part[] => {
    const [first, ...later] = pushCase.pushes;
    if (first === undefined) return [];
    const unmatched = unmatchedOf(pushCase, pushRun).find(({ line }) => line.action !== "not-a-push");
    if (unmatched !== undefined)
      return [
        unlike(
          "a later push does not carry the notification's id where the first one does",
          pushCase.name,
          first,
          unmatched,
        ),
      ];
    return later.length === 0 ? [] : [samePart(pushCase)];
  });
  const rewritten = pushRun.pushCases.flatMap(({ pushes: [first, ...later] }) =>
    later.flatMap((push) =>
      first === undefined || push.line.bodySha256 === first.line.bodySha256
        ? []
        : [differingFields(first, push)],
    ),
  );
  const loose = new Set(rewritten.flatMap((names = []) => names.filter((name) => !fixedFields.has(name))));
  // Where only white space or the order of fields differs, the body is the same to a JSON parser.
  const onlyBytes = rewritten.filter((names) => names?.length === 0).length;
  return findingOf(parts, withoutRetry("no notification was pushed more than once"), {
    ...(loose.size > 0 ? { furtherFieldsThatDiffer: [...loose].toSorted() } : {}),
    ...(onlyBytes > 0 ? { pushesWrittenOtherwise: onlyBytes } : {}),
  });
};
