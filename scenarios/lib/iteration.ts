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
  arrived(lagMs(settings.stages, iterationInTest, epochMs() - startTime), startTime);
  try {
    course(
      settings.preflight
        ? outsideTheLoad("preflight")
        : contextOf(String(iterationInTest), iterationInTest + 1),
    );
  } finally {
    flushChecks();
  }
};

/** Numbers beyond those of any iteration, so that states of every segment's preflight and set-up differ as well. */
const outside = { preflight: 1e12, "set-up": 2e12 } as const;

const outsideTheLoad = (what: keyof typeof outside): IterationContext => {
  const { index } = settings.segment ?? { index: 0 };
  return contextOf(`${what} ${index}`, outside[what] + index);
};

export const setUpContext = (): IterationContext => outsideTheLoad("set-up");

/** Iterations are numbered over all segments: name and number are those of no other context of the run. */
const contextOf = (name: string, number: number): IterationContext => {
  const random = randomFrom(`${settings.seed}/${name}`);
  let accountSource: Random | undefined;
  let states = 0;
  return {
    random,
    freshAccount: () => {
      if (!accountsAreOwn) return settings.accounts[random.below(settings.accounts.length)] ?? "";
      accountSource ??= randomFrom(`${settings.digestKey}/${name}`);
      return accountSource.uuid();
    },
    freshState: () => {
      states += 1;
      return stateFrom(random, `${number}0${states}`, settings.limits.stateMaxBytes);
    },
    someClient: () => settings.clients[random.below(settings.clients.length)] as ScriptClient,
  };
};
