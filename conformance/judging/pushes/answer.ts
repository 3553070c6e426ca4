import { fieldOf, parseJson } from "../../contract/json.ts";
import type { Push, PushAction } from "../../contract/push.ts";

/** The return code that the service expects unless the profile names another; the document does not show it. */
export const usualAcknowledgementStatus = 200;

/**
 * What the answer to a push means under section 6.
 *
 * - `acknowledged`: the expected code and `{ id, received: true }`, delivered whole. Nothing may follow.
 * - `failed`: no code, or one that reports a failure (3xx, 4xx, 5xx), however the answer ended. Another push
 * has to follow.
 * - `open`: the expected code with another body, cut off or never finished; or another 2xx. The document does
 * not say.
 */
export type AnswerOutcome = "acknowledged" | "failed" | "open";

/** The part of an answer that decides. */
export interface Answer {
  readonly action: Push["action"];
  readonly status?: number | undefined;
  /** How the answer ended; undefined while it is in progress. */
  readonly outcome?: Push["outcome"] | undefined;
  /** Whether the body is the acknowledgement of the pushed notification. */
  readonly confirms: boolean;
}

export const outcomeOf = (
  { action, status, outcome, confirms }: Answer,
  expectedStatus: number,
): AnswerOutcome => {
  if (status === undefined || status >= 300) return "failed";
  const isWhole = action === "answer" && outcome === "sent";
  return status === expectedStatus && isWhole && confirms ? "acknowledged" : "open";
};

/** A push and, if known, what the receiver was told to do with it. */
export interface AnsweredPush {
  readonly line: Pick<Push, "action" | "status" | "outcome" | "answer" | "notificationId">;
  readonly action?: PushAction | undefined;
}

export const answerOf = (push: AnsweredPush): Answer => {
  const { action, status, outcome } = push.line;
  return { action, status, outcome, confirms: confirms(push) };
};

export const isAcknowledged = (push: AnsweredPush, expectedStatus: number): boolean =>
  outcomeOf(answerOf(push), expectedStatus) === "acknowledged";

/** Whether the body confirms receipt, by the plan or else by the answer in the journal. */
const confirms = ({ line, action }: AnsweredPush): boolean => {
  if (action !== undefined)
    return (
      action.kind === "answer" &&
      (action.body === undefined || action.body === "acknowledge" || action.body === "acknowledge-otherwise")
    );
  // A receiver that does not record its answers acknowledges unless told otherwise.
  if (line.answer === undefined) return line.action === "answer";
  const value = parseJson(bodyOf(line.answer));
  return fieldOf(value, "received") === true && fieldOf(value, "id") === line.notificationId;
};

/** The body of an answer as the journal quotes it. */
export const bodyOf = (answer: string): string => answer.split(/\r?\n\r?\n/, 2)[1] ?? "";
