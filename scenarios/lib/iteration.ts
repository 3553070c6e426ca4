import exec from "k6/execution";
import type { ScriptClient } from "../protocol.ts";
import { lagMs } from "./arrivals.ts";
import { epochMs } from "./clock.ts";
import { randomFrom, type Random } from "./random.ts";
import { arrived, flushChecks } from "./report.ts";
import { requestsFor } from "./requests.ts";
import { stateFrom } from "./state.ts";
import { settings } from "./settings.ts";

export const requests = requestsFor(settings);

/** What one iteration draws from: the same seed gives the same course, whichever virtual user runs it. */
export interface IterationContext {
  readonly random: Random;
  /** An account that no run has used before; one of the profile's where it names them. */
  readonly freshAccount: () => string;
  /** A state that no other request of the run has sent. */
  readonly freshState: () => string;
  readonly someClient: () => ScriptClient;
}

/** Whether accounts are the run's own: then a virtual user knows all that is in one that it made. */
export const accountsAreOwn = settings.accounts.length === 0;

/**
 * Runs an iteration. Its lag rides on all of its samples from here on; the metadata stays with the
 * virtual user until its next iteration overwrites it.
 */
export const iterate = (course: (context: IterationContext) => void): void => {
  const { iterationInTest, startTime } = exec.scenario;
  arrived(iterationInTest, lagMs(settings.stages, iterationInTest, epochMs() - startTime), startTime);
  try {
    course(contextOf(iterationInTest));
  } finally {
    flushChecks();
  }
};

/** What is drawn before the load begins, when there is no iteration yet. */
export const setUpContext = (): IterationContext => contextOf(-1);

const contextOf = (iteration: number): IterationContext => {
  const random = randomFrom(`${settings.seed}/${iteration}`);
  let accountSource: Random | undefined;
  let states = 0;
  return {
    random,
    freshAccount: () => {
      if (!accountsAreOwn) return settings.accounts[random.below(settings.accounts.length)] ?? "";
      accountSource ??= randomFrom(`${settings.digestKey}/${iteration}`);
      return accountSource.uuid();
    },
    freshState: () => {
      states += 1;
      return stateFrom(random, `${iteration + 1}0${states}`, settings.limits.stateMaxBytes);
    },
    someClient: () => settings.clients[random.below(settings.clients.length)] as ScriptClient,
  };
};
