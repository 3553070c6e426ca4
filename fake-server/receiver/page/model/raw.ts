import { parseJson } from "../../../../conformance/contract/json.ts";
import { harmless, harmlessLines } from "../../../../conformance/contract/harmless-text.ts";
import type { PushLine } from "../../../../conformance/contract/push.ts";
import { clockTime, count, span } from "./format.ts";
import { type Attempt, isOpen } from "./store.ts";

type PushOf = Extract<PushLine, { kind: "push" }>;

/** Text from the wire in displayable form: line ends stay, characters that hide or reorder text become visible. */
const visible = (text: string): string => harmlessLines(text.replaceAll("\r\n", "\n"));

/** JSON indented for display; undefined if the text is not JSON, or already indented. */
const indented = (text: string): string | undefined => {
  const shown = JSON.stringify(parseJson(text), undefined, 2);
  return shown === text ? undefined : shown;
};

const indentedBody = ({ body, bodyEncoding }: PushOf): string | undefined =>
  bodyEncoding === "base64" ? undefined : indented(body);

/** The request as on the wire, with JSON indented. The receiver only speaks HTTP/1.1. */
export const requestText = (push: PushOf): string => {
  const headers = push.headers.map(([name, value]) => harmless(`${name}: ${value}`));
  return [
    harmless(`${push.method} ${push.path} HTTP/1.1`),
    ...headers,
    "",
    visible(indentedBody(push) ?? push.body),
  ].join("\n");
};

/** What readers must know about the body first. */
export const bodyNote = (push: PushOf): string =>
  [
    ...(push.notificationId === undefined ? ["The body is not a notification: it has no id."] : []),
    ...(indentedBody(push) === undefined ? [] : ["JSON, shown indented."]),
    wholeness(push),
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");

const wholeness = ({ body, bodyBytes, bodyEncoding }: PushOf): string => {
  if (bodyEncoding === "base64")
    return `The body's ${count(bodyBytes)} bytes are not UTF-8; shown in base64.`;
  const shown = new TextEncoder().encode(body).length;
  return shown < bodyBytes
    ? `The body is truncated: ${count(shown)} of ${count(bodyBytes)} bytes are shown.`
    : "";
};

/** The outcome of a push in a few words. */
export const outcomeOf = (attempt: Attempt): string => {
  const { action, outcome, status } = attempt;
  if (isOpen(attempt)) return action === "hang" ? "no answer, still open" : `${status ?? 200} is being sent`;
  if (outcome === "abandoned") return "the sender left first";
  const words: Record<Attempt["action"], string> = {
    answer: `answered ${status ?? 200}`,
    hang: "no answer",
    close: status === undefined ? "closed before an answer" : `${status}, closed midway`,
    reset: "connection reset",
    "not-a-push": `not a push, ${status ?? "refused"}`,
    "too-large": `too large, ${status ?? "refused"}`,
  };
  return words[action];
};

/** The answer as on the wire, with JSON indented. */
export const answerText = ({ answer }: PushOf, attempt: Attempt): string => {
  if (answer === undefined) return `(${outcomeOf(attempt)})`;
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  return visible(answer.slice(0, answer.length - body.length) + (indented(body) ?? body));
};

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
