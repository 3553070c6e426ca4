import { Value } from "typebox/value";
import { Notification } from "../contract/messages.ts";
import { duration } from "../contract/duration.ts";
import { canonicalJson } from "../contract/verdict.ts";
import type { Campaign, SeenPush, Specimen } from "./data.ts";
import { unlessLost } from "./lost.ts";
import { isRedirected, requestText, straysOf } from "./strays.ts";
import {
  acknowledgedAt,
  bodyOf,
  findingOf,
  namelessPushes,
  ofPurpose,
  pushCount,
  pushesAfter,
  undecidedFinding,
  type Finding,
  type Part,
} from "./finding.ts";

/** The fields that the document names (sections 2.3 and 6). */
export const documentedFields = [...Object.keys(Notification.properties), "Template"];

/** push.delivered: sections 4.5 and 6. What meets a closed door is judged where retries are. */
export const judgeDelivered = (campaign: Campaign): Finding => unlessLost(judgeArrival(campaign), campaign);

const judgeArrival = (campaign: Campaign): Finding => {
  const path = new URL(campaign.callbackUrl).pathname;
  const events = campaign.specimens.filter(({ purpose }) => purpose !== "refused" && purpose !== "untrusted");
  const expected = `each event arrives as a POST with JSON at ${path}, and so does each repetition`;
  const nameless = namelessPushes(campaign);
  const saysJson = events.every(({ pushes: [first] }) => first === undefined || isJsonType(first));
  const parts = events.map((specimen): Part | undefined => {
    const { pushes } = specimen;
    const [stray] = straysOf(specimen, campaign).filter(({ line }) => line.action === "not-a-push");
    if (pushes.length === 0) {
      if (nameless.length > 0) return undefined;
      const instead = stray ?? strangerOf(campaign);
      return {
        expected,
        actual:
          instead === undefined
            ? `for an event nothing came within ${duration(campaign.watchedUntil.earliestMs - specimen.triggered.latestMs)}`
            : `for an event there came ${requestText(instead)}, which the receiver could not take for a push`,
        evidence: instead === undefined ? [] : [instead],
        ...(instead === undefined ? { lacking: specimen } : {}),
      };
    }
    if (stray !== undefined)
      return {
        expected,
        actual: `for an event that had been pushed before, a ${requestText(stray)} came, which the receiver could not take for a push`,
        evidence: [...pushes.slice(0, 1), stray],
      };
    const wrong = pushes.find((push) => faultOf(push, path, saysJson) !== undefined);
    return wrong === undefined
      ? "held"
      : {
          expected,
          actual: `push ${pushes.indexOf(wrong) + 1} of an event came as ${requestText(wrong)} with ${faultOf(wrong, path, saysJson) ?? ""}`,
          evidence: [wrong],
        };
  });
  const decided = parts.filter((part) => part !== undefined);
  const finding = findingOf(decided, "no event was triggered", { events: events.length });
  return finding.judgement.kind === "broke" || decided.length === events.length
    ? finding
    : undecidedFinding(
        `${nameless.length} pushes name no notification, so that nobody can tell whether ${events.length - decided.length} events arrived`,
      );
};

/**
 * What is wrong with the request of a push. The document asks for JSON and names no header; where every first push
 * says that it is JSON, though, one that does not say so any more is no repetition of it.
 */
const faultOf = (push: SeenPush, path: string, saysJson: boolean): string | undefined => {
  const { method, path: at } = push.line;
  if (bodyOf(push) === undefined) return "a body that is no JSON object";
  if (method !== "POST" || at.split("?")[0] !== path) return "JSON";
  return saysJson && !isJsonType(push)
    ? `${contentTypeOf(push) === "none" ? "no content type" : `the content type ${contentTypeOf(push)}`}, while first pushes say that they are JSON`
    : undefined;
};

/** The content type as it was sent, in small letters and without spaces; "none" where there was none. */
export const contentTypeOf = ({ line }: SeenPush): string =>
  line.headers
    .find(([name]) => name.toLowerCase() === "content-type")?.[1]
    .toLowerCase()
    .replaceAll(" ", "") ?? "none";

const isJsonType = (push: SeenPush): boolean =>
  /^(application|text)\/([\w.-]+\+)?json(;|$)/.test(contentTypeOf(push));

/** A request that is no push and names nothing: of an event that was not pushed at all, for all that is known. */
const strangerOf = ({ others }: Campaign): SeenPush | undefined =>
  others.find((push) => push.line.action === "not-a-push" && !isRedirected(push));

/** push.payload: sections 2.3 and 2.4. */
export const judgePayload = (campaign: Campaign): Finding => {
  const pushes: { readonly specimen?: Specimen; readonly push: SeenPush }[] = [
    ...campaign.specimens.flatMap((specimen) => specimen.pushes.map((push) => ({ specimen, push }))),
    // Pushes of other rules' events, and those that name none, are pushes all the same.
    ...campaign.others.filter(({ line }) => line.action !== "not-a-push").map((push) => ({ push })),
  ];
  const extra = new Set<string>();
  const parts = pushes.map(({ specimen, push }): Part => {
    const body = bodyOf(push);
    for (const name of Object.keys(body ?? {})) if (!documentedFields.includes(name)) extra.add(name);
    const fault = payloadFault(body, specimen) ?? idFault(body, specimen, campaign);
    return fault === undefined
      ? "held"
      : {
          expected: "a pushed body is a Notification of section 2.3, of the event's account",
          actual: fault,
          evidence: [push],
        };
  });
  const withTemplate = pushes.filter(({ push }) => bodyOf(push)?.["Template"] !== undefined).length;
  return findingOf(parts, "no push arrived", {
    pushes: pushes.length,
    withTemplate,
    ...(extra.size > 0 ? { furtherFields: [...extra].toSorted() } : {}),
  });
};

const payloadFault = (
  body: Readonly<Record<string, unknown>> | undefined,
  specimen: Specimen | undefined,
): string | undefined => {
  if (body === undefined) return "a pushed body is no JSON object";
  const [error] = Value.Errors(Notification, body);
  if (error !== undefined)
    return `a pushed body ${error.message}${error.instancePath === "" ? "" : ` at ${error.instancePath}`}`;
  if (Number.isNaN(Date.parse(String(body["createTime"])))) return "createTime of a pushed body is no moment";
  if (specimen !== undefined && String(body["accountId"]).toLowerCase() !== specimen.accountId.toLowerCase())
    return "the pushed accountId is not that of the event";
  return undefined;
};

/**
 * Whether the pushed id is the one that the event's hook told. A hook may tell ids of something else, in which case
 * none of them is ever pushed.
 */
const idFault = (
  body: Readonly<Record<string, unknown>> | undefined,
  specimen: Specimen | undefined,
  { specimens }: Campaign,
): string | undefined => {
  const told = specimen?.notificationId;
  const id = body?.["id"];
  if (specimen === undefined || told === undefined || typeof id !== "string" || id === told) return undefined;
  if (id.toLowerCase() === told.toLowerCase()) return `the pushed id is ${id}, and that of the event ${told}`;
  const isToldBy = ({ notificationId, pushes: [first] }: Specimen): boolean =>
    notificationId !== undefined &&
    first?.line.notificationId?.toLowerCase() === notificationId.toLowerCase();
  const { accountId } = specimen;
  const isAlone = specimens.filter((one) => one.accountId === accountId).length === 1;
  return isAlone && 2 * specimens.filter(isToldBy).length > specimens.length
    ? `the pushed id is ${id}, and that of the event ${told}`
    : undefined;
};

/** push.acknowledged-stops: section 6. */
export const judgeAcknowledgedStops = (campaign: Campaign): Finding => {
  const parts = campaign.specimens
    .filter((specimen) => acknowledgedAt(specimen, campaign) === 0)
    .map((specimen) => endOfPushes(specimen, 0));
  return findingOf(parts, "no first push was acknowledged");
};

/** Nothing may come after the push with this index. */
const endOfPushes = (specimen: Specimen, index: number): Part => {
  const further = pushesAfter(specimen, index);
  const [first] = further;
  const acknowledged = specimen.pushes[index];
  if (first === undefined || acknowledged === undefined) return "held";
  return {
    expected: `no push of a notification follows the acknowledgement of its push ${index + 1}`,
    actual: `${pushCount(further.length)} came after it, the first ${sinceText(acknowledged, first)}`,
    evidence: [acknowledged, ...further.slice(0, 3)],
  };
};

const sinceText = (earlier: SeenPush, later: SeenPush): string =>
  `${duration(Math.max(0, later.at.latestMs - earlier.at.earliestMs))} after it at most`;

/** push.late-acknowledgement: follows from section 6. */
export const judgeLateAcknowledgement = (campaign: Campaign): Finding => {
  const { maxPushes } = campaign.limits;
  const most = Math.max(0, ...ofPurpose(campaign, "never").map(({ pushes }) => pushes.length));
  const late = ofPurpose(campaign, "late");
  const parts: Part[] = [];
  const numbers = new Set<number>();
  for (const specimen of campaign.specimens) {
    const index = acknowledgedAt(specimen, campaign);
    if (index < 0) continue;
    numbers.add(index + 1);
    parts.push(endOfPushes(specimen, index));
  }
  const missed = late.find(
    (specimen) =>
      acknowledgedAt(specimen, campaign) < 0 &&
      specimen.actions.length <= Math.min(most, maxPushes) &&
      !numbers.has(specimen.actions.length),
  );
  const facts = { acknowledgedAtPush: [...numbers].toSorted((a, b) => a - b) };
  if (parts.some((part) => part !== "held")) return findingOf(parts, "", facts);
  if (missed !== undefined)
    return {
      ...undecidedFinding(`push ${missed.actions.length}, which was to be acknowledged, did not come`),
      facts,
    };
  if (![...numbers].some((n) => n > 1))
    return {
      ...undecidedFinding(
        "no notification was pushed a second time, so that no later push could be acknowledged",
      ),
      facts,
    };
  return findingOf(parts, "", facts);
};

/** push.same-notification: follows from section 6. */
export const judgeSameNotification = (campaign: Campaign): Finding => {
  const loose = new Set<string>();
  let onlyBytes = 0;
  const expected = "all pushes of a notification have the same id and the same body";
  const parts = campaign.specimens.flatMap((specimen): Part[] => {
    const { pushes } = specimen;
    const [first, ...later] = pushes;
    if (first === undefined) return [];
    const [stray] = straysOf(specimen, campaign).filter(({ line }) => line.action !== "not-a-push");
    if (stray !== undefined)
      return [
        {
          expected,
          actual:
            "a later push carries the notification in another form, which names no id where the first did",
          evidence: [first, stray],
        },
      ];
    if (later.length === 0) return [];
    for (const push of later) {
      if (push.line.bodySha256 === first.line.bodySha256) continue;
      const [a, b] = [bodyOf(first), bodyOf(push)];
      const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
      const differing = [...names].filter((name) => canonicalJson(a?.[name]) !== canonicalJson(b?.[name]));
      const documented = differing.filter((name) => documentedFields.includes(name));
      for (const name of differing) if (!documentedFields.includes(name)) loose.add(name);
      if (documented.length > 0 || b === undefined)
        return [
          {
            expected,
            actual:
              b === undefined
                ? `push ${push.line.attempt} carries no JSON object, unlike the first`
                : `a later push differs from the first in ${documented.join(", ")}`,
            evidence: [first, push],
          },
        ];
      if (differing.length === 0) onlyBytes += 1;
    }
    return ["held"];
  });
  const facts = {
    ...(loose.size > 0 ? { furtherFieldsThatDiffer: [...loose].toSorted() } : {}),
    // White space and the order of fields: another text, and the same body for whoever reads JSON.
    ...(onlyBytes > 0 ? { pushesWrittenOtherwise: onlyBytes } : {}),
  };
  return findingOf(
    parts,
    "no notification was pushed more than once",
    Object.keys(facts).length > 0 ? facts : undefined,
  );
};
