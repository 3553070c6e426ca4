/**
 * Maps with at most `limit` concurrent calls, results in the order of the values. After an error no further call
 * starts; the error is thrown once all running calls have ended.
 */
export const mapLimited = async <T, R>(
  values: readonly T[],
  limit: number,
  map: (value: T, index: number) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  // Shared by all workers: an error of one ends it for the others too.
  const left = values.entries().map((entry) => entry);
  const worker = async (): Promise<void> => {
    for (const [index, value] of left) results[index] = await map(value, index);
  };
  const ended = await Promise.allSettled(
    Array.from({ length: Math.min(limit, values.length) }, () => worker()),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return results;
};
