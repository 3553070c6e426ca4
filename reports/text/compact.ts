import { harmless } from "../../conformance/contract/harmless-text.ts";
import { isObject, parseJson } from "../../conformance/contract/json.ts";

const simple = /^[\p{L}\p{N}_‹›][\p{L}\p{N} _.:/+‹›-]*$/u;

/** A JSON value in compact but clear notation: {status: 200, fields: [code, state]}. Safe to print. */
export const compact = (value: unknown): string => {
  if (typeof value === "string") return harmless(simple.test(value) ? value : JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${pairs(value)}}`;
};

/** The same without the outermost braces: "status: 200, fields: [code, state]". */
export const compactFields = (value: unknown): string =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? pairs(value)
    : compact(value);

const pairs = (value: object): string =>
  Object.entries(value)
    .map(([key, inner]) => `${compact(key)}: ${compact(inner)}`)
    .join(", ");

/** A name from the code as words: "roundsWithoutWinner" gives "rounds without winner". Units are dropped. */
export const words = (name: string): string =>
  name
    .replace(/Ms$/, "")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase();

/** The fields of an object with their values as text; nested objects are flattened. */
export const leavesOf = (value: object, path = ""): (readonly [name: string, leaf: string])[] =>
  Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = `${path}${harmless(key)}`;
    return isObject(inner) && Object.values(inner).some(isObject)
      ? leavesOf(inner, `${name}, `)
      : [[name, isObject(inner) ? compactFields(inner) : compact(inner)] as const];
  });

export const parseFingerprint = (fingerprint: string): unknown => parseJson(fingerprint) ?? fingerprint;

export const readableFingerprint = (fingerprint: string): string =>
  compactFields(parseFingerprint(fingerprint));

/** Two fingerprints without the fields they share. */
export const changedOf = (before: string, after: string): readonly [before: string, after: string] => {
  const [one, other] = [parseFingerprint(before), parseFingerprint(after)];
  if (!isObject(one) || !isObject(other)) return [before, after];
  const [mine, theirs] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  const without = (own: ReadonlyMap<string, unknown>, others: ReadonlyMap<string, unknown>): string =>
    JSON.stringify(
      Object.fromEntries(
        [...own].filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(others.get(key))),
      ),
    );
  return [without(mine, theirs), without(theirs, mine)];
};
