import { headerOf, type Answer } from "../../world/exchange.ts";

/** The kind of an answer's body, by its content, not its label. */
export const kindOfBody = (answer: Answer): "empty" | "json" | "html" | "text" => {
  if (answer.text.trim() === "") return "empty";
  if (answer.json !== undefined) return "json";
  return /^\s*<(!doctype|html|\?xml|[a-z]+[\s>])/i.test(answer.text) ? "html" : "text";
};

/** Media type of an answer in lower case, with its parameters in order; undefined if it has none (RFC 9110 section 8.3). */
export const mediaTypeOf = (answer: Answer): string | undefined =>
  headerOf(answer, "content-type")
    ?.split(";")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "")
    .join("; ");
