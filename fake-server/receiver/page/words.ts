import { harmlessLines } from "../../../conformance/contract/harmless-text.ts";
import { parseJson } from "../../../conformance/contract/json.ts";
import type { Push, PushAction, PushPlan } from "../../../conformance/contract/push.ts";
import { isOpen } from "./progress.ts";
import type { Attempt } from "./rows.ts";

const always = (otherwise: PushAction): PushPlan => ({ rules: [], otherwise });
const twice = [503, 503, 200].map((status): PushAction => ({ kind: "answer", status }));

/** The plans that the page offers. */
export const plans: readonly (readonly [words: string, plan: PushPlan])[] = [
  ["acknowledge", { rules: [] }],
  ["500", always({ kind: "answer", status: 500 })],
  ["503 twice, then acknowledge", { rules: [{ match: {}, attempts: twice }] }],
  ["received: false", always({ kind: "answer", body: "not-received" })],
  ["no body", always({ kind: "answer", body: "empty" })],
  ["acknowledge after 10 s", always({ kind: "answer", delayMs: 10_000 })],
  ["no answer", always({ kind: "hang" })],
  ["close before the answer", always({ kind: "close", when: "before-answer" })],
  ["close within the answer", always({ kind: "close", when: "half-answer" })],
  ["TCP reset", always({ kind: "reset" })],
];

/** How a push ended, in a few words. */
export const endOf = (attempt: Attempt): string => {
  const { action, outcome, status } = attempt.answer;
  if (isOpen(attempt)) return action === "hang" ? "no answer, still open" : `${status ?? 200} is being sent`;
  if (outcome === "abandoned") return "the sender left first";
  const words: Record<Push["action"], string> = {
    answer: `answered ${status ?? 200}`,
    hang: "no answer",
    close: status === undefined ? "closed before an answer" : `${status}, closed midway`,
    reset: "connection reset",
    "not-a-push": `not a push, ${status ?? "refused"}`,
    "too-large": `too large, ${status ?? "refused"}`,
  };
  return words[action];
};

/** A message as on the wire, with JSON indented: line ends stay, what hides or reorders text becomes visible. */
const messageOf = (head: string, body: string): string => {
  const indented = JSON.stringify(parseJson(body), undefined, 2) ?? body;
  return `${harmlessLines(head)}\n\n${harmlessLines(indented.replaceAll("\r\n", "\n"))}`;
};

export const requestText = ({ method, path, headers, body }: Push): string => {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return messageOf([`${method} ${path} HTTP/1.1`, ...lines].join("\n"), body);
};

export const answerText = ({ answer }: Push, attempt: Attempt): string => {
  if (answer === undefined) return `(${endOf(attempt)})`;
  const at = answer.indexOf("\r\n\r\n");
  return messageOf(answer.slice(0, at).replaceAll("\r\n", "\n"), answer.slice(at + 4));
};
