import { duration } from "../../contract/duration.ts";
import { counted } from "../../contract/text.ts";
import type { PushRun, SeenPush } from "./trace.ts";
import { ofPurpose, silentFirst, type Doubt } from "./cases.ts";
import {
  findingOf,
  IN_REAL_TIME,
  undecided,
  withoutPush,
  withoutRetry,
  type Finding,
  type Part,
} from "./finding.ts";

/** Every push and every unmatched request of a push run, in journal order. */
const everything = ({ pushCases, others }: PushRun): readonly SeenPush[] =>
  [...pushCases.flatMap(({ pushes }) => pushes), ...others].toSorted((a, b) => a.line.n - b.line.n);

/** The statuses that redirected a push, each with the request to the address to which only it leads. */
export const redirects = (pushRun: PushRun) => {
  const all = everything(pushRun);
  return ofPurpose(pushRun, "late").flatMap(({ pushes: [first], actions: [action] }) => {
    const isRedirect = action?.kind === "answer" && action.headers?.["location"] !== undefined;
    const status = first?.line.status;
    if (!isRedirect || status === undefined || status !== action.status) return [];
    const followed = all.find(({ line }) => line.path.startsWith(`/elsewhere/${status}`));
    return [{ status, followed }];
  });
};

export const judgeRedirects = (pushRun: PushRun): Finding => {
  const parts = redirects(pushRun).map(({ status, followed }): Part => {
    if (followed === undefined || followed.line.bodyBytes === 0) return "passed";
    const { method, bodyBytes } = followed.line;
    return {
      expected:
        "a push that is answered with a redirect is not sent on to the address that the redirect names",
      actual: `after status ${status}, ${method} with ${counted(bodyBytes, "byte")} arrived at that address`,
      evidence: [followed],
    };
  });
  return findingOf(parts, withoutPush("no push was answered with a redirect"));
};

/** push.certificate-check: advisory. Undefined if the receiver shows no certificate. */
export const judgeCertificateCheck = (pushRun: PushRun): Finding | undefined => {
  const window = pushRun.outages.find(({ kind }) => kind === "untrusted");
  if (window === undefined) return undefined;
  // By the receiver's own numbers: requests on connections that it accepted with that certificate.
  const first = everything(pushRun).find(
    ({ line: { n, connection } }) =>
      n > window.from.last &&
      connection.id > window.from.lastConnection &&
      connection.id <= window.until.lastConnection,
  );
  const none = withoutRetry("the event was not pushed even with the trusted certificate");
  const facts = { payloadSent: first !== undefined };
  if (first !== undefined) {
    const { method, path, bodyBytes } = first.line;
    const expected = "a receiver with a certificate of an unknown authority gets no request";
    const actual = `it got ${method} ${path} with ${counted(bodyBytes, "byte")}`;
    return findingOf([{ expected, actual, evidence: [first] }], none, facts);
  }
  const wasPushed = (ofPurpose(pushRun, "untrusted")[0]?.pushes.length ?? 0) > 0;
  return wasPushed ? findingOf(["passed"], none, facts) : undecided(none);
};

const WAITS_IN_REAL_TIME: Doubt = {
  why: "the sender's timeout uses real time, while the hook moved the clock",
  settle: IN_REAL_TIME,
};

export const judgeHeadOfLine = (pushRun: PushRun): Finding => {
  const hung = silentFirst(pushRun);
  if (hung.length === 0) return undecided(withoutPush("no push was left without an answer"));
  const usualMs = Math.max(
    0,
    ...ofPurpose(pushRun, "prompt").flatMap(({ pushes: [first], triggered, isBesideSilence }) =>
      first === undefined || isBesideSilence === true ? [] : [first.at.latestMs - triggered.earliestMs],
    ),
  );
  const boundMs = usualMs + pushRun.latenessMs;
  const beside = pushRun.pushCases.filter(({ isBesideSilence }) => isBesideSilence === true);
  const parts = beside.map(({ name, pushes: [first], triggered }): Part | Doubt => {
    const leastMs = (first?.at ?? pushRun.watchedUntil).earliestMs - triggered.latestMs;
    if (leastMs <= boundMs) return "passed";
    // A push that waits in line while the clock is moved waits as long as the clock jumps.
    if (pushRun.hungInRealTime) return WAITS_IN_REAL_TIME;
    return {
      expected: `while other pushes hang, the first push of an event arrives within ${duration(boundMs)}`,
      actual:
        first === undefined
          ? "that of an event did not come"
          : `that of an event came after at least ${duration(leastMs)}`,
      evidence: first === undefined ? [] : [first],
      name,
    };
  });
  return findingOf(
    parts,
    withoutPush("no event was triggered while they hung"),
    { hanging: hung.length },
    "waited behind others",
  );
};
