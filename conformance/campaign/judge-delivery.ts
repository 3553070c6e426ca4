import { Value } from "typebox/value";
import { Notification } from "../contract/messages.ts";
import { duration } from "../contract/duration.ts";
import { canonicalJson } from "../contract/verdict.ts";
import type { Campaign, SeenPush, Specimen } from "./data.ts";
import { unlessLost } from "./lost.ts";
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
  const expected = `each event arrives as a POST with JSON at ${path}`;
  const nameless = namelessPushes(campaign);
  const parts = events.map((specimen): Part | undefined => {
    const [first] = specimen.pushes;
    if (first === undefined) {
      if (nameless.length > 0) return undefined;
      const stray = strayOf(specimen, campaign);
      return {
        expected,
        actual:
          stray === undefined
            ? `for an event nothing came within ${duration(campaign.watchedUntil.earliestMs - specimen.triggered.latestMs)}`
            : `for an event there came ${stray.line.method} ${stray.line.path}, which the receiver could not take for a push`,
        evidence: stray === undefined ? [] : [stray],
        ...(stray === undefined ? { lacking: specimen } : {}),
      };
    }
    const { method, path: at } = first.line;
    if (method === "POST" && at.split("?")[0] === path && bodyOf(first) !== undefined) return "held";
    const what = bodyOf(first) === undefined ? "a body that is no JSON object" : "JSON";
    return { expected, actual: `an event came as ${method} ${at} with ${what}`, evidence: [first] };
  });
  const decided = parts.filter((part) => part !== undefined);
  const finding = findingOf(decided, "no event was triggered", { events: events.length });
  return finding.judgement.kind === "broke" || decided.length === events.length
    ? finding
    : undecidedFinding(
        `${nameless.length} pushes name no notification, so that nobody can tell whether ${events.length - decided.length} events arrived`,
      );
};

/** A request that names the notification, but is no push. */
const strayOf = ({ notificationId, accountId }: Specimen, { others }: Campaign): SeenPush | undefined =>
  others.find(
    ({ line }) =>
      line.action === "not-a-push" &&
      [notificationId, accountId].some((id) => id !== undefined && `${line.body} ${line.path}`.includes(id)),
  ) ?? others.find(({ line }) => line.action === "not-a-push" && !line.path.startsWith("/elsewhere/"));

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
    const fault = payloadFault(body, specimen);
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
  for (const specimen of [...ofPurpose(campaign, "prompt", "kind"), ...late]) {
    const index = acknowledgedAt(specimen, campaign);
    if (index < 0) continue;
    numbers.add(index + 1);
    parts.push(endOfPushes(specimen, index));
  }
  const unreached = late.filter(
    (specimen) =>
      acknowledgedAt(specimen, campaign) < 0 && specimen.actions.length <= Math.min(most, maxPushes),
  );
  const facts = { acknowledgedAtPush: [...numbers].toSorted((a, b) => a - b) };
  if (parts.some((part) => part !== "held")) return findingOf(parts, "", facts);
  const [missed] = unreached;
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
  const parts = campaign.specimens
    .filter(({ pushes }) => pushes.length > 1)
    .map(({ pushes }): Part => {
      const [first, ...later] = pushes;
      for (const push of later) {
        if (first === undefined || push.line.bodySha256 === first.line.bodySha256) continue;
        const [a, b] = [bodyOf(first), bodyOf(push)];
        const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
        const differing = [...names].filter((name) => canonicalJson(a?.[name]) !== canonicalJson(b?.[name]));
        const documented = differing.filter((name) => documentedFields.includes(name));
        for (const name of differing) if (!documentedFields.includes(name)) loose.add(name);
        if (documented.length > 0 || b === undefined)
          return {
            expected: "all pushes of a notification have the same id and the same body",
            actual:
              b === undefined
                ? `push ${push.line.attempt} carries no JSON object, unlike the first`
                : `a later push differs from the first in ${documented.join(", ")}`,
            evidence: [first, push],
          };
      }
      return "held";
    });
  return findingOf(
    parts,
    "no notification was pushed more than once",
    loose.size > 0 ? { furtherFieldsThatDiffer: [...loose].toSorted() } : undefined,
  );
};
