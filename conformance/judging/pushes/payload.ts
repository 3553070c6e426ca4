import { notificationBreach, notificationFields } from "../laws/notification.ts";
import { bodyOf, isShortened } from "./cases.ts";
import { findingOf, TOO_LONG, withoutPush, type Finding, type Part } from "./finding.ts";
import type { PushCase, PushRun, SeenPush } from "./trace.ts";

/** The fields that the document names (sections 2.3 and 6). */
export const documentedFields = [...notificationFields, "Template"] as readonly string[];

/** push.payload: sections 2.3 and 2.4. */
export const judgePayload = (pushRun: PushRun): Finding => {
  const all: { readonly pushCase?: PushCase; readonly push: SeenPush }[] = [
    ...pushRun.pushCases.flatMap((pushCase) => pushCase.pushes.map((push) => ({ pushCase, push }))),
    // Pushes of other rules' events, and those that name no notification, still count.
    ...pushRun.others.filter(({ line }) => line.action !== "not-a-push").map((push) => ({ push })),
  ];
  const pushes = all.filter(({ push }) => !isShortened(push));
  const extra = new Set<string>();
  const parts = pushes.map(({ pushCase, push }): Part => {
    const body = bodyOf(push);
    for (const name of Object.keys(body ?? {})) if (!documentedFields.includes(name)) extra.add(name);
    const fault = payloadFault(body, pushCase) ?? idFault(body, pushCase, pushRun);
    return fault === undefined ? "passed" : broken(fault, push, pushCase);
  });
  const withTemplate = pushes.filter(({ push }) => bodyOf(push)?.["Template"] !== undefined).length;
  return findingOf(parts, all.length === 0 ? withoutPush("no push arrived") : TOO_LONG, {
    pushes: pushes.length,
    withTemplate,
    ...(extra.size > 0 ? { furtherFields: [...extra].toSorted() } : {}),
  });
};

/** push.payload of one notification: the first of its pushes that is no Notification of the event's account. */
export const payloadPart = (pushCase: PushCase): Part => {
  for (const push of pushCase.pushes) {
    const fault = isShortened(push) ? undefined : payloadFault(bodyOf(push), pushCase);
    if (fault !== undefined) return broken(fault, push, pushCase);
  }
  return "passed";
};

const broken = (actual: string, push: SeenPush, pushCase: PushCase | undefined): Part => ({
  expected: "a pushed body is a Notification as in section 2.3, for the event's account",
  actual,
  evidence: [push],
  name: pushCase?.name,
});

const payloadFault = (
  body: Readonly<Record<string, unknown>> | undefined,
  pushCase: PushCase | undefined,
): string | undefined => {
  if (body === undefined) return "the pushed body is not a JSON object";
  const breach = notificationBreach(body);
  if (breach !== undefined) return `${breach.expected}; in the pushed body ${breach.actual}`;
  if (pushCase !== undefined && String(body["accountId"]).toLowerCase() !== pushCase.accountId.toLowerCase())
    return "the pushed accountId is not that of the event";
  return undefined;
};

/**
 * Whether the pushed id is the one the event's hook returned. A hook may return ids of something else; then
 * none of them is ever pushed.
 */
const idFault = (
  body: Readonly<Record<string, unknown>> | undefined,
  pushCase: PushCase | undefined,
  { pushCases }: PushRun,
): string | undefined => {
  const told = pushCase?.notificationId;
  const id = body?.["id"];
  if (pushCase === undefined || told === undefined || typeof id !== "string" || id === told) return undefined;
  if (id.toLowerCase() === told.toLowerCase()) return `the pushed id is ${id}, but the event's is ${told}`;
  const isToldBy = ({ notificationId, pushes: [first] }: PushCase): boolean =>
    notificationId !== undefined &&
    first?.line.notificationId?.toLowerCase() === notificationId.toLowerCase();
  const { accountId } = pushCase;
  const isAlone = pushCases.filter((one) => one.accountId === accountId).length === 1;
  return isAlone && 2 * pushCases.filter(isToldBy).length > pushCases.length
    ? `the pushed id is ${id}, but the event's is ${told}`
    : undefined;
};
