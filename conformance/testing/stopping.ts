import { afterEach } from "vitest";

/** Collects what a test file's tests start, and stops it after each of them. */
export const stopAfterEach = (): (<T extends { stop(): Promise<void> }>(
  started: Promise<T>,
) => Promise<T>) => {
  const started: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.stop()));
  });
  return async (starting) => {
    const one = await starting;
    started.push(one);
    return one;
  };
};
