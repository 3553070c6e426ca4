/** The known names most similar to a misspelt one, by shared letter pairs (Dice's coefficient). */
export const nearest = (name: string, known: readonly string[], most = 3): readonly string[] =>
  known
    .map((candidate) => ({ candidate, likeness: dice(name, candidate) }))
    .toSorted((a, b) => b.likeness - a.likeness)
    .slice(0, most)
    .map(({ candidate }) => candidate);

const pairs = (text: string): Set<string> =>
  new Set(
    Array.from({ length: Math.max(0, text.length - 1) }, (_, index) =>
      text.slice(index, index + 2).toLowerCase(),
    ),
  );

/** From 0 (no letter pair in common) to 1. */
export const dice = (a: string, b: string): number => {
  const [left, right] = [pairs(a), pairs(b)];
  const shared = [...left].filter((pair) => right.has(pair)).length;
  return (2 * shared) / Math.max(1, left.size + right.size);
};
