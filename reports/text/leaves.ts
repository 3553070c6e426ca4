import { compact, compactFields } from "./compact.ts";
import { safe } from "./safe.ts";
import { isObject } from "../../conformance/contract/json.ts";

/** The fields of an object with their values as text; objects that hold objects give the fields of those. */
export const leavesOf = (value: object, path = ""): (readonly [name: string, leaf: string])[] =>
  Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const name = `${path}${safe(key)}`;
    return isObject(inner) && Object.values(inner).some(isObject)
      ? leavesOf(inner, `${name}, `)
      : [[name, isObject(inner) ? compactFields(inner) : compact(inner)] as const];
  });

export const parseFingerprint = (fingerprint: string): unknown => {
  try {
    return JSON.parse(fingerprint);
  } catch {
    return fingerprint;
  }
};

export const readableFingerprint = (fingerprint: string): string =>
  compactFields(parseFingerprint(fingerprint));

/** Two fingerprints without the fields that are equal in both. */
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
