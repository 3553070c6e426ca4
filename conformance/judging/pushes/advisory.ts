import { duration } from "../../contract/duration.ts";
import { counted } from "../../contract/text.ts";
import type { PushRun, SeenPush } from "./trace.ts";
import { findingOf, ofPurpose, silentFirst, undecidedFinding, type Finding, type Part } from "./finding.ts";

/** Every push and every unmatched request of a push run, in journal order. */
const everything = ({ pushCases, others }: PushRun): readonly SeenPush[] =>
  [...pushCases.flatMap(({ pushes }) => pushes), ...others].toSorted((a, b) => a.line.n - b.line.n);

/** Requests to addresses that only a redirect leads to, by the redirect's status. */
export const followedRedirects = (pushRun: PushRun): ReadonlyMap<string, SeenPush> => {
  const found = new Map<string, SeenPush>();
  for (const push of everything(pushRun)) {
    const status = /^\/elsewhere\/(\d{3})/.exec(push.line.path)?.[1];
    if (status !== undefined && !found.has(status)) found.set(status, push);
  }
  return found;
};

export const redirected = (pushRun: PushRun): readonly string[] =>
  ofPurpose(pushRun, "late")
    .filter(({ pushes, actions: [action] }) => {
      const leads = action?.kind === "answer" && action.headers?.["location"] !== undefined;
      return leads && pushes[0]?.line.status === action.status;
    })
    .map(({ pushes }) => String(pushes[0]?.line.status));

export const judgeRedirects = (pushRun: PushRun): Finding => {
  const followed = followedRedirects(pushRun);
  const parts = redirected(pushRun).map((status): Part => {
    const push = followed.get(status);
    return push === undefined || push.line.bodyBytes === 0
      ? "passed"
      : {
          expected:
            "a push that is answered with a redirect is not sent on to the address that the redirect names",
          actual: `after status ${status}, ${push.line.method} with ${counted(push.line.bodyBytes, "byte")} arrived at that address`,
          evidence: [push],
        };
  });
  return findingOf(parts, "no push was answered with a redirect");
};

/** push.certificate-check: advisory. Undefined if the receiver shows no certificate. */
export const judgeCertificateCheck = (pushRun: PushRun): Finding | undefined => {
  const window = pushRun.outages.find(({ kind }) => kind === "untrusted");
  if (window === undefined) return undefined;
  // By the receiver's own numbers: requests on connections that it accepted with that certificate.
  const inside = everything(pushRun).filter(
    ({ line: { n, connection } }) =>
      n > window.from.last &&
      connection.id > window.from.lastConnection &&
      connection.id <= window.until.lastConnection,
  );
  const [first] = inside;
  const [pushCase] = ofPurpose(pushRun, "untrusted");
  const wasPushed = (pushCase?.pushes.length ?? 0) > 0;
  if (first === undefined && !wasPushed)
    return undecidedFinding("the event was not pushed even with the trusted certificate");
  return findingOf(
    [
      first === undefined
        ? "passed"
        : {
            expected: "a receiver with a certificate of an unknown authority gets no request",
            actual: `it got ${first.line.method} ${first.line.path} with ${counted(first.line.bodyBytes, "byte")}`,
            evidence: [first],
          },
    ],
    "",
    { payloadSent: first !== undefined },
  );
};

export const judgeHeadOfLine = (pushRun: PushRun): Finding => {
  const hung = silentFirst(pushRun);
  if (hung.length === 0) return undecidedFinding("no push was left without an answer");
  const usualMs = Math.max(
    0,
    ...ofPurpose(pushRun, "prompt").flatMap(({ pushes: [first], triggered, isBesideSilence }) =>
      first === undefined || isBesideSilence === true ? [] : [first.at.latestMs - triggered.earliestMs],
    ),
  );
  const boundMs = usualMs + pushRun.latenessMs;
  const beside = pushRun.pushCases.filter(({ isBesideSilence }) => isBesideSilence === true);
  const parts = beside.map(({ pushes: [first], triggered }): Part | undefined => {
    const leastMs = (first?.at ?? pushRun.watchedUntil).earliestMs - triggered.latestMs;
    if (leastMs <= boundMs) return "passed";
    if (pushRun.hungInRealTime) return undefined;
    return {
      expected: `while other pushes hang, the first push of an event arrives within ${duration(boundMs)}`,
      actual: first === undefined ? "it did not come" : `it came after at least ${duration(leastMs)}`,
      evidence: first === undefined ? [] : [first],
    };
  });
  const decided = parts.filter((part) => part !== undefined);
  // A push that waits in line while the clock is moved waits as long as the clock jumps, which says nothing
  // about real time.
  if (decided.length < parts.length)
    return undecidedFinding(
      "pushes waited behind others whose timeout uses real time, while the hook moved the clock",
      {
        settle: "a sender whose timeout uses the clock that hooks.clock.advance moves; or a run in real time",
      },
    );
  return findingOf(decided, "no event was triggered while they hung", { hanging: hung.length });
};
