import { epochMs } from "./clock.ts";
import exec from "k6/execution";
import type { ScriptClient } from "../protocol.ts";
import { lagMs } from "../stages.ts";
import { randomFrom, type Random, stateFrom } from "./mix.ts";
import { arrived, flushChecks } from "./report.ts";
import { requestsFor } from "./requests.ts";
import { settings } from "./settings.ts";

export const requests = requestsFor(settings);

/** Source of an iteration's choices: the same seed gives the same iteration on any virtual user. */
export interface IterationContext {
  readonly random: Random;
  /** An account that no run has used before, or one of those named in the profile. */
  readonly freshAccount: () => string;
  /** A state that no other request of the run has sent. */
  readonly freshState: () => string;
  readonly someClient: () => ScriptClient;
}

/** Whether accounts belong to the run alone; a virtual user then knows the full content of those it created. */
export const accountsAreOwn = settings.accounts.length === 0;

/** Runs an iteration. Its requests are reported with its lag. */
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

/**
 * Numbers above those of any iteration, so that the states of each segment's preflight and set-up are unique as well.
 */
const outside = { preflight: 1e12, "set-up": 2e12 } as const;

const outsideTheLoad = (what: keyof typeof outside): IterationContext => {
  const { index } = settings.segment ?? { index: 0 };
  return contextOf(`${what} ${index}`, outside[what] + index);
};

export const setUpContext = (): IterationContext => outsideTheLoad("set-up");

/** Iterations are numbered across all segments; no other context of the run has the same name and number. */
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

/** A scenario as k6 runs it. `Data` is passed from the set-up to every virtual user, as JSON. */
export interface Scenario<Data = unknown> {
  /** Runs once before the load; its requests do not count as load. Begins nothing new once its time is up. */
  readonly setUp?: (context: IterationContext, isTimeUp: () => boolean) => Data;
  /** Calls every step once, before any load, and reports failures with their likely cause. */
  readonly preflight: (context: IterationContext) => void;
  readonly iteration: (context: IterationContext, data: Data) => void;
}

/** Hides the type of the data, which only the scenario itself needs. */
export const scenario = <Data>(of: Scenario<Data>): Scenario => of as Scenario;
