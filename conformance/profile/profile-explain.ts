import type { ErrorObject } from "ajv";
import { dice, nearest } from "../contract/nearest.ts";
import { keyText, type ProfileProblem } from "./profile-problems.ts";

/**
 * Ajv's errors as sentences, one per key. A union reports each of its arms: if the value has the key that identifies
 * one arm, report that arm; otherwise the outermost error is enough.
 */
export const explain = (errors: readonly ErrorObject[]): readonly ProfileProblem[] => {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf");
  const isTold = (error: ErrorObject): boolean => {
    const union = unions.find(({ schemaPath }) => error.schemaPath.startsWith(schemaPath));
    if (union === undefined) return true;
    const arm = meantArm(union);
    return arm === undefined ? error === union : error.schemaPath.startsWith(`${union.schemaPath}/${arm}/`);
  };
  const problems = errors.filter(isTold).map(explainOne);
  return [...new Map(problems.map((problem) => [problem.text, problem])).values()];
};

/** Index of the only arm of a union whose required keys the value has. */
const meantArm = ({ data, parentSchema }: ErrorObject): number | undefined => {
  if (typeof data !== "object" || data === null) return undefined;
  const arms = (parentSchema?.["anyOf"] ?? []) as readonly { readonly required?: readonly string[] }[];
  const fitting = arms.flatMap((arm, index) => (arm.required?.every((key) => key in data) ? [index] : []));
  return fitting.length === 1 ? fitting[0] : undefined;
};

const explainOne = (error: ErrorObject): ProfileProblem => {
  const at = error.instancePath.split("/").slice(1).map(unescaped);
  const key = keyText(at) || "the profile";
  if (error.keyword === "additionalProperties") {
    const unknown = String(error.params["additionalProperty"]);
    const known = Object.keys((error.parentSchema?.["properties"] ?? {}) as object);
    return {
      at: [...at, unknown],
      text: `${key} has the unknown key "${unknown}"${guess(unknown, known)}; accepted are ${known.join(", ")}`,
    };
  }
  if (error.keyword === "required")
    return { at, text: `${key} lacks the key "${error.params["missingProperty"]}"` };
  const description = (error.parentSchema as { description?: string } | undefined)?.description;
  return {
    at,
    text: `${key} is ${shownValue(key, error.data)}; it ${required(error)}${description === undefined ? "" : ` (${description})`}`,
  };
};

const kinds: Readonly<Record<string, string>> = {
  array: "a list",
  object: "an object",
  integer: "a whole number",
};

/** What a value must be, in Ajv's words if they are plain. */
const required = ({ keyword, params, message = "is not accepted" }: ErrorObject): string => {
  if (keyword === "type") return `must be ${kinds[String(params["type"])] ?? `a ${params["type"]}`}`;
  if (keyword === "minItems" || keyword === "minLength")
    return `must not be ${params["limit"] === 1 ? "empty" : `shorter than ${params["limit"]}`}`;
  if (keyword === "anyOf") return "must have one of the accepted forms";
  return message.replace("must NOT", "must not");
};

const unescaped = (part: string): string | number =>
  /^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~");

/** A suggestion for a misspelt name, if one is similar enough. */
export const guess = (name: string, known: readonly string[]): string => {
  const [candidate] = nearest(name, known, 1);
  return candidate !== undefined && dice(name, candidate) >= 0.5 ? ` (did you mean "${candidate}"?)` : "";
};

/** The value of a key, unless it may be or contain a credential. */
const shownValue = (key: string, value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return /secret|header|token|password|passphrase|query|body|command|proxy/i.test(key)
    ? `(a ${typeof value}, not shown)`
    : (JSON.stringify(value)?.slice(0, 80) ?? "nothing");
};
