/**
 * P values adjusted for multiple testing (Holm 1979): those at most α after adjustment may all be rejected, with
 * probability at most α of any false rejection, whatever the dependence between tests. In input order.
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
