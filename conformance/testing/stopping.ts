import { afterAll, afterEach } from "vitest";

interface Stoppable {
  stop(): Promise<unknown>;
}

/** Collects what is started, and stops it in reverse order, because later ones may use earlier ones. */
const stoppedBy = (whenDone: (stop: () => Promise<void>) => void) => {
  const started: Stoppable[] = [];
  whenDone(async () => {
    for (const one of started.splice(0).toReversed()) await one.stop();
  });
  return async <T extends Stoppable>(starting: T | Promise<T>): Promise<T> => {
    const one = await starting;
    started.push(one);
    return one;
  };
};

/** Stops what a test file's tests start after each test. */
export const stopAfterEach = () => stoppedBy(afterEach);

/** Stops what a test file starts for all of its tests after the last one. */
export const stopAfterAll = () => stoppedBy(afterAll);
