import { harmless, harmlessLines } from "../../../../conformance/contract/harmless-text.ts";
import type { PushLine } from "../../../../conformance/contract/push.ts";
import { clockTime, count, span } from "./format.ts";
import { type Attempt, isOpen } from "./store.ts";

type PushOf = Extract<PushLine, { kind: "push" }>;

/** Text from the wire as it can be shown: its line ends stay, and what would hide or reorder text becomes visible. */
const visible = (text: string): string => harmlessLines(text.replaceAll("\r\n", "\n"));

/** JSON is shown indented; undefined where the body is none, or stands so already. */
const indented = ({ body, bodyEncoding }: PushOf): string | undefined => {
  if (bodyEncoding === "base64") return undefined;
  try {
    const text = JSON.stringify(JSON.parse(body), undefined, 2);
    return text === body ? undefined : text;
  } catch {
    return undefined;
  }
};

/** The request as it was on the wire, but for JSON, which is indented. The receiver speaks HTTP/1.1 only. */
export const requestText = (push: PushOf): string => {
  const headers = push.headers.map(([name, value]) => harmless(`${name}: ${value}`));
  return [
    harmless(`${push.method} ${push.path} HTTP/1.1`),
    ...headers,
    "",
    visible(indented(push) ?? push.body),
  ].join("\n");
};

/** What a reader has to know of the body before reading it. */
export const bodyNote = (push: PushOf): string =>
  [
    ...(push.notificationId === undefined ? ["The body is no notification: it names no id."] : []),
    ...(indented(push) === undefined ? [] : ["JSON, shown indented."]),
    wholeness(push),
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");

const wholeness = ({ body, bodyBytes, bodyEncoding }: PushOf): string => {
  if (bodyEncoding === "base64")
    return `The body's ${count(bodyBytes)} bytes are not UTF-8; shown in base64.`;
  const shown = new TextEncoder().encode(body).length;
  return shown < bodyBytes ? `The body is cut: ${count(shown)} of ${count(bodyBytes)} bytes are shown.` : "";
};

/** What became of a push, in a few words. */
export const outcomeOf = (attempt: Attempt): string => {
  const { action, outcome, status } = attempt;
  if (isOpen(attempt)) return action === "hang" ? "no answer, still open" : `${status ?? 200} is being sent`;
  if (outcome === "abandoned") return "the sender left first";
  const words: Record<Attempt["action"], string> = {
    answer: `answered ${status ?? 200}`,
    hang: "no answer",
    close: status === undefined ? "closed before an answer" : `${status}, closed half-way`,
    reset: "connection reset",
    "not-a-push": `not a push, ${status ?? "refused"}`,
    "too-large": `too large, ${status ?? "refused"}`,
  };
  return words[action];
};

export const answerText = (push: PushOf, attempt: Attempt): string =>
  push.answer === undefined ? `(${outcomeOf(attempt)})` : visible(push.answer);

/** Facts about one push, as terms and descriptions. */
export const facts = (push: PushOf, attempt: Attempt): [term: string, value: string][] => {
  const { connection } = push;
  const received = push.completeMs - push.firstByteMs;
  const answered = isOpen(attempt) ? "not yet" : span(attempt.endMs - attempt.startMs - received);
  const tls = connection.tls;
  const name = tls?.servername === undefined ? "" : `, for ${harmless(tls.servername)}`;
  return [
    ["First byte", `${clockTime(attempt.startMs)} ± ${push.uncertaintyMs.toFixed(1)} ms`],
    ["Complete after", span(received)],
    ["Ended after", `${answered} (${outcomeOf(attempt)})`],
    ["Connection", `${connection.id}, request ${connection.request}, from port ${connection.remotePort}`],
    ["TLS", tls === undefined ? "none" : `${tls.protocol}, ${tls.cipher}${name}`],
    ["Body", `${count(push.bodyBytes)} bytes, SHA-256 ${push.bodySha256}`],
  ];
};
