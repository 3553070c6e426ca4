import { afterEach } from "vitest";

/**
 * Collects what a test file's tests start, and stops it after each test, in reverse order, because later ones may use
 * earlier ones.
 */
export const stopAfterEach = (): (<T extends { stop(): Promise<void> }>(
  started: Promise<T>,
) => Promise<T>) => {
  const started: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of started.splice(0).toReversed()) await one.stop();
  });
  return async (starting) => {
    const one = await starting;
    started.push(one);
    return one;
  };
};
