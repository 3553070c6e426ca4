import { harmless } from "../../../../conformance/contract/harmless-text.ts";
import type { PushAction, PushPlan, PushRule } from "../../../../conformance/contract/push.ts";

/** Initial actions; their JSON can be edited before use. */
export const usualActions: readonly (readonly [words: string, action: PushAction])[] = [
  ["Acknowledge", { kind: "answer" }],
  ["500", { kind: "answer", status: 500 }],
  ["429, try again later", { kind: "answer", status: 429, headers: { "retry-after": "60" } }],
  ["Not received", { kind: "answer", body: "not-received" }],
  ["Wrong id", { kind: "answer", body: "wrong-id" }],
  ["Empty body", { kind: "answer", body: "empty" }],
  ["Acknowledge after 10 s", { kind: "answer", delayMs: 10_000 }],
  ["No answer", { kind: "hang" }],
  ["Close before an answer", { kind: "close", when: "before-answer" }],
  ["Close in the middle of the answer", { kind: "close", when: "half-answer" }],
  ["TCP reset", { kind: "reset" }],
];

export type Use = "all" | "next" | "account";

export const ruleFor = (use: Use, accountId: string, action: PushAction): PushRule => ({
  match: use === "account" ? { accountId } : {},
  attempts: [action],
  ...(use === "next" ? { times: 1 } : {}),
});

const detailsOf = (fields: object): string[] =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => harmless(`${name} ${typeof value === "string" ? value : JSON.stringify(value)}`));

/** An action of the plan in a few words. */
const actionWords = (action: PushAction): string => {
  const { kind, ...fields } = action.kind === "answer" ? { ...action, status: undefined } : action;
  const answered = action.kind === "answer" ? ` ${action.status ?? 200}` : "";
  return [`${kind}${answered}`, ...detailsOf(fields)].join(", ");
};

const useWords = ({ match, times }: PushRule): string => {
  const which = times === undefined ? "" : times === 1 ? "the next " : `the next ${times} `;
  const conditions = detailsOf(match);
  const pushes = `${which}${times === 1 ? "push" : "pushes"}`;
  if (conditions.length > 0) return `${pushes} with ${conditions.join(", ")}`;
  return times === undefined ? "all pushes" : pushes;
};

export const ruleWords = (rule: PushRule): string =>
  `${useWords(rule)}: ${rule.attempts.map(actionWords).join(", then ")}`;

/** How pushes without a rule are answered. */
export const otherwiseWords = ({ otherwise = { kind: "answer" }, noNotification }: PushPlan): string =>
  `otherwise: ${actionWords(otherwise)}${noNotification === undefined ? "" : `; a body that is not a notification: ${actionWords(noNotification)}`}`;

export interface Outcome {
  readonly kind: string;
  readonly status?: number;
  readonly message?: string;
}

export const outcomeWords = ({ kind, status, message }: Outcome): string =>
  kind === "answered" ? `answered ${status}` : `${kind.replaceAll("-", " ")}: ${message}`;
