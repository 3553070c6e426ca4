/**
 * P values adjusted for testing them together (Holm 1979): those at most α after adjustment may all
 * be rejected, and the probability of even one wrong rejection is at most α, whatever the
 * dependence between the tests. In the order in which they came.
 */
export const holm = (pValues: readonly number[]): readonly number[] => {
  const order = pValues.map((p, at) => ({ p, at })).toSorted((a, b) => a.p - b.p);
  const adjusted = Array.from(pValues, () => 1);
  let least = 0;
  for (const [rank, { p, at }] of order.entries()) {
    least = Math.max(least, Math.min(1, (pValues.length - rank) * p));
    adjusted[at] = least;
  }
  return adjusted;
};
