import { headerOf, type Answer } from "../../world/exchange.ts";

/** The kind of an answer's body, by its content, not its label. */
export const kindOfBody = (answer: Answer): "empty" | "json" | "html" | "text" => {
  if (answer.text.trim() === "") return "empty";
  if (answer.json !== undefined) return "json";
  return /^\s*<(!doctype|html|\?xml|[a-z]+[\s>])/i.test(answer.text) ? "html" : "text";
};

/** The outcome of an unusual request, in the same words for the same behaviour. */
export const outcomeOf = (answer: Answer | undefined, isGranted: boolean): unknown =>
  answer === undefined
    ? { outcome: "hang-up" }
    : { outcome: isGranted ? "granted" : "refused", status: answer.status, body: kindOfBody(answer) };

/** Media type of an answer in lower case, with its parameters in order; undefined if it has none (RFC 9110 section 8.3). */
export const mediaTypeOf = (answer: Answer): string | undefined =>
  headerOf(answer, "content-type")
    ?.split(";")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "")
    .join("; ");
