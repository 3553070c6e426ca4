/** What the gate and a load demand of every code and token that is issued (sections 2.1 and 2.2). */
export const issuedOnce = {
  code: "every authorization gets its own code",
  token: "no token is issued twice",
} as const;

/** The first two values, in their order, whose key is the same; undefined where all differ. */
export const firstRepeated = <T>(
  values: readonly T[],
  keyOf: (value: T) => string,
): readonly [earlier: T, later: T] | undefined => {
  const seen = new Map<string, T>();
  for (const value of values) {
    const earlier = seen.get(keyOf(value));
    if (earlier !== undefined) return [earlier, value];
    seen.set(keyOf(value), value);
  }
  return undefined;
};
