import { headerOf, type Answer } from "../../world/exchange.ts";

/** What kind of body an answer has, by its content rather than by its label. */
export const kindOfBody = (answer: Answer): "empty" | "json" | "html" | "text" => {
  if (answer.text.trim() === "") return "empty";
  if (answer.json !== undefined) return "json";
  return /^\s*<(!doctype|html|\?xml|[a-z]+[\s>])/i.test(answer.text) ? "html" : "text";
};

/** Media type of an answer in lower case, its parameters in order; undefined where it has none (RFC 9110 section 8.3). */
export const mediaTypeOf = (answer: Answer): string | undefined =>
  headerOf(answer, "content-type")
    ?.split(";")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "")
    .join("; ");
