import type { ErrorObject } from "ajv";
import { fieldOf } from "./json.ts";
import { dice, nearest } from "./text.ts";

export type KeyPath = readonly (string | number)[];

/** One mistake in a value: its place, and a sentence that names key, value and what is accepted. */
export interface KeyProblem {
  readonly at: KeyPath;
  readonly text: string;
}

/** A key in its usual notation, such as `clients[0].secret` or `headers."x-one"`. */
export const keyText = (at: KeyPath): string =>
  at.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return `${text}${text === "" ? "" : "."}${/^[\w$]+$/.test(key) ? key : `"${key}"`}`;
  }, "");

export interface Explained {
  /** What the value as a whole is called. */
  readonly root: string;
  /** A key's value as it may be shown. */
  readonly shown: (key: string, value: unknown) => string;
}

/**
 * Ajv's errors (with `allErrors` and `verbose`) as sentences, one per key. A union reports each of its arms: if the
 * value names one arm, only that arm is reported; otherwise the union as a whole.
 */
export const explain = (errors: readonly ErrorObject[], explained: Explained): readonly KeyProblem[] => {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf");
  const isTold = (error: ErrorObject): boolean =>
    unions
      .filter((union) => error === union || isWithin(error, union))
      .every((union) => {
        const arm = meantArm(union);
        return error === union
          ? arm === undefined
          : arm !== undefined && error.schemaPath.startsWith(`${union.schemaPath}/${arm}/`);
      });
  const problems = errors.filter(isTold).map((error) => explainOne(error, explained));
  return [...new Map(problems.map((problem) => [problem.text, problem])).values()];
};

const isWithin = (error: ErrorObject, union: ErrorObject): boolean =>
  error.schemaPath.startsWith(`${union.schemaPath}/`) &&
  `${error.instancePath}/`.startsWith(`${union.instancePath}/`);

interface Arm {
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
}

const armsOf = ({ parentSchema }: ErrorObject): readonly Arm[] =>
  (parentSchema?.["anyOf"] ?? []) as readonly Arm[];

/** The key that tells the arms of a union apart by a constant each. */
const tellingKey = (arms: readonly Arm[]): string | undefined =>
  Object.keys(arms[0]?.properties ?? {}).find((key) =>
    arms.every(({ properties }) => properties?.[key]?.const !== undefined),
  );

/** Index of the only arm of a union that the value names, by its telling key or by the keys that the arm requires. */
const meantArm = (union: ErrorObject): number | undefined => {
  const { data } = union as { readonly data?: unknown };
  if (typeof data !== "object" || data === null) return undefined;
  const arms = armsOf(union);
  const telling = tellingKey(arms);
  const fitting = arms.flatMap(({ required, properties }, index) => {
    const fits =
      telling === undefined
        ? required?.every((key) => key in data)
        : properties?.[telling]?.const === fieldOf(data, telling);
    return fits === true ? [index] : [];
  });
  return fitting.length === 1 ? fitting[0] : undefined;
};

const explainOne = (error: ErrorObject, { root, shown }: Explained): KeyProblem => {
  const at = error.instancePath.split("/").slice(1).map(unescaped);
  const key = keyText(at) || root;
  if (error.keyword === "additionalProperties") {
    const unknown = String(error.params["additionalProperty"]);
    const known = Object.keys((error.parentSchema?.["properties"] ?? {}) as object);
    // Keys that follow a pattern are described.
    const accepted =
      known.length === 0
        ? ` (${described(error) ?? "none is accepted"})`
        : `; accepted are ${known.join(", ")}`;
    return {
      at: [...at, unknown],
      text: `${key} has the unknown key "${unknown}"${guess(unknown, known)}${accepted}`,
    };
  }
  if (error.keyword === "required")
    return { at, text: `${key} lacks the key "${error.params["missingProperty"]}"` };
  const arms = error.keyword === "anyOf" ? armsOf(error) : [];
  const telling = tellingKey(arms);
  if (telling !== undefined) {
    const accepted = arms.map(({ properties }) => JSON.stringify(properties?.[telling]?.const));
    const value = shown(telling, fieldOf(error.data, telling));
    return { at, text: `${key}.${telling} is ${value}; accepted are ${accepted.join(", ")}` };
  }
  if (arms.some((arm) => arm.const !== undefined))
    return { at, text: `${key} is ${shown(key, error.data)}; accepted are ${arms.map(formOf).join(", ")}` };
  const description = described(error);
  return {
    at,
    text: `${key} is ${shown(key, error.data)}; it ${required(error)}${description === undefined ? "" : ` (${description})`}`,
  };
};

const described = ({ parentSchema }: ErrorObject): string | undefined =>
  (parentSchema as { description?: string } | undefined)?.description;

/** A constant, or the keys of an object. */
const formOf = ({ const: value, required: keys = [] }: Arm): string =>
  value === undefined ? `{${keys.map((key) => `"${key}": ...`).join(", ")}}` : JSON.stringify(value);

const kinds: Readonly<Record<string, string>> = {
  array: "a list",
  object: "an object",
  integer: "a whole number",
};

const bounds: Readonly<Record<string, string>> = {
  minimum: "at least",
  maximum: "at most",
  exclusiveMinimum: "greater than",
  exclusiveMaximum: "less than",
};

/** What a value must be, in Ajv's words if they are plain. */
const required = ({ keyword, params, message = "is not accepted" }: ErrorObject): string => {
  if (keyword === "type") return `must be ${kinds[String(params["type"])] ?? `a ${params["type"]}`}`;
  if (keyword === "minItems" || keyword === "minLength")
    return `must not be ${params["limit"] === 1 ? "empty" : `shorter than ${params["limit"]}`}`;
  const bound = bounds[keyword];
  if (bound !== undefined) return `must be ${bound} ${params["limit"]}`;
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
