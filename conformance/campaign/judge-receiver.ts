import { duration } from "../contract/duration.ts";
import type { Campaign, SeenPush } from "./data.ts";
import { findingOf, ofPurpose, undecidedFinding, type Finding, type Part } from "./finding.ts";

/** Every push and every stray request of a campaign, in the order of the journal. */
const everything = ({ specimens, others }: Campaign): readonly SeenPush[] =>
  [...specimens.flatMap(({ pushes }) => pushes), ...others].toSorted((a, b) => a.line.n - b.line.n);

/** Requests that came to where only a redirect leads, by the status that led there. */
export const followedRedirects = (campaign: Campaign): ReadonlyMap<string, SeenPush> => {
  const found = new Map<string, SeenPush>();
  for (const push of everything(campaign)) {
    const status = /^\/elsewhere\/(\d{3})/.exec(push.line.path)?.[1];
    if (status !== undefined && !found.has(status)) found.set(status, push);
  }
  return found;
};

/** Pushes that were answered with a redirect, by its status. */
export const redirected = (campaign: Campaign): readonly string[] =>
  ofPurpose(campaign, "kind")
    .filter(({ pushes, actions: [action] }) => {
      const leads = action?.kind === "answer" && action.headers?.["location"] !== undefined;
      return leads && pushes[0]?.line.status === action.status;
    })
    .map(({ pushes }) => String(pushes[0]?.line.status));

/** push.redirects: advisory. */
export const judgeRedirects = (campaign: Campaign): Finding => {
  const followed = followedRedirects(campaign);
  const parts = redirected(campaign).map((status): Part => {
    const push = followed.get(status);
    return push === undefined || push.line.bodyBytes === 0
      ? "held"
      : {
          expected: "a push that is answered with a redirect is not sent on to another address",
          actual: `after status ${status}, ${push.line.method} with ${push.line.bodyBytes} bytes came to the other path`,
          evidence: [push],
        };
  });
  return findingOf(parts, "no push was answered with a redirect");
};

/** push.certificate-check: advisory. Undefined where the receiver shows no certificate at all. */
export const judgeCertificateCheck = (campaign: Campaign): Finding | undefined => {
  const window = campaign.disturbances.find(({ kind }) => kind === "untrusted");
  if (window === undefined) return undefined;
  const inside = everything(campaign).filter(({ line }) => line.n > window.after && line.n <= window.last);
  const [first] = inside;
  const [specimen] = ofPurpose(campaign, "untrusted");
  const wasPushed = (specimen?.pushes.length ?? 0) > 0;
  if (first === undefined && !wasPushed)
    return undecidedFinding("the event was not pushed even with the certificate that is trusted");
  return findingOf(
    [
      first === undefined
        ? "held"
        : {
            expected: "a receiver with a certificate of an unknown authority gets no request",
            actual: `it got ${first.line.method} ${first.line.path} with ${first.line.bodyBytes} bytes`,
            evidence: [first],
          },
    ],
    "",
    { payloadSent: first !== undefined },
  );
};

/** push.no-head-of-line-blocking: advisory. */
export const judgeHeadOfLine = (campaign: Campaign): Finding => {
  const hung = ofPurpose(campaign, "hang").filter(({ pushes: [first] }) => first?.line.action === "hang");
  if (hung.length === 0) return undecidedFinding("no push was left without an answer");
  const usualMs = Math.max(
    0,
    ...ofPurpose(campaign, "prompt").flatMap(({ pushes: [first], triggered }) =>
      first === undefined ? [] : [first.at.latestMs - triggered.earliestMs],
    ),
  );
  const boundMs = usualMs + campaign.latenessMs;
  const parts = ofPurpose(campaign, "beside-hang").map(({ pushes: [first], triggered }): Part | undefined => {
    const leastMs = (first?.at ?? campaign.watchedUntil).earliestMs - triggered.latestMs;
    if (leastMs <= boundMs) return "held";
    if (campaign.hungInRealTime) return undefined;
    return {
      expected: `while other pushes hang, the first push of an event comes within ${duration(boundMs)}`,
      actual: first === undefined ? "it did not come" : `it came after at least ${duration(leastMs)}`,
      evidence: first === undefined ? [] : [first],
    };
  });
  const decided = parts.filter((part) => part !== undefined);
  // A push that waits in line while the clock is moved on waits for as long as that, which says nothing of real time.
  if (decided.length < parts.length)
    return undecidedFinding(
      "pushes waited behind others whose time-out goes by real time, while the clock was moved",
      "a time-out that goes by the clock that hooks.clock.advance moves; or a run in real time",
    );
  return findingOf(decided, "nothing was triggered beside them", { hanging: hung.length });
};
