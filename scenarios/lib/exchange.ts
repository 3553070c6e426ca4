import { parseJson } from "../../conformance/contract/json.ts";
import type { Endpoint as DocumentedEndpoint } from "../../conformance/contract/forms.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Breach } from "../../conformance/judging/laws/breach.ts";

export interface Exchange {
  /** Name of the endpoint, also k6's `name` tag. */
  readonly endpoint: Endpoint;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, from the slash. */
  readonly path: string;
  readonly requestBody?: string;
  /** 0 if there was no answer. */
  readonly status: number;
  /** The body, or the reason why there was no answer. */
  readonly text: string;
  /** Fields of the body if it is a JSON object; otherwise empty. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly location?: string;
  readonly durationMs: number;
}

/** An endpoint of the document, or the hook that triggers an event. */
export type Endpoint = DocumentedEndpoint | "trigger";

const nothing = {};

export const fieldsIn = (text: string): Exchange["fields"] => {
  if (!/^\s*\{/.test(text)) return nothing;
  return (parseJson(text) ?? nothing) as Exchange["fields"];
};

/** Whether the status is 2xx. The document does not specify refusals, so this alone decides nothing. */
export const isSuccess = ({ status }: Exchange): boolean => status >= 200 && status < 300;

/**
 * Whether the service says that the request itself is wrong. A status that may also mean "not now" (403 from a gateway,
 * 408, 425, 429, any 5xx) says nothing about a promise: the request failed.
 */
export const saysWrong = ({ status }: Exchange): boolean => [400, 401, 404, 410, 422].includes(status);

/** Whether the answer decides anything: success, or a refusal of this very request. */
export const isDecided = (exchange: Exchange): boolean => isSuccess(exchange) || saysWrong(exchange);

const MOST_FIELDS = 8;

/** An answer without its values; the evidence has it in full, with credentials masked. */
export const describe = ({ status, text, fields }: Exchange): string => {
  if (status === 0) return `no answer (${text})`;
  if (text === "") return `status ${status}, no body`;
  const names = Object.keys(fields);
  if (names.length === 0) return `status ${status}, a body of ${text.length} characters`;
  const shown = names.slice(0, MOST_FIELDS).map((name) => `${name.slice(0, 40)} (${kindOf(fields[name])})`);
  return `status ${status}, with ${shown.join(", ")}${names.length > MOST_FIELDS ? " and more" : ""}`;
};

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return `${value.length} items`;
  if (value === "") return "empty text";
  return typeof value === "string" ? "text" : typeof value === "number" ? String(value) : typeof value;
};

/** One check of a rule. Answers that cannot be judged produce no check. */
export interface Check {
  readonly rule: RequirementId;
  /** Absent if the rule held. */
  readonly breach?: { readonly expected: string; readonly actual: string };
}

export const held = (rule: RequirementId): Check => ({ rule });

/** The result of a law as a check of a rule; `exchange` is for breaches visible in the answer itself. */
export const checkOf = (rule: RequirementId, breach: Breach | undefined, exchange?: Exchange): Check =>
  breach === undefined
    ? held(rule)
    : broken(rule, breach.expected, breach.actual ?? (exchange === undefined ? "" : describe(exchange)));

export const broken = (rule: RequirementId, expected: string, actual: string): Check => ({
  rule,
  breach: { expected, actual },
});

/** Held if the condition is true; `actual` is only evaluated if it is false. */
export const expectThat = (
  rule: RequirementId,
  holds: boolean,
  expected: string,
  actual: () => string,
): Check => (holds ? held(rule) : broken(rule, expected, actual()));
