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
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < values.length) {
      const index = next;
      next += 1;
      try {
        results[index] = await map(values[index] as T, index);
      } catch (error) {
        next = values.length;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(
    Array.from({ length: Math.min(limit, values.length) }, () => worker()),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
  return results;
};
