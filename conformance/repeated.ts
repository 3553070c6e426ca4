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
