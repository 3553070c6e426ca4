import { sleepFrom } from "../world/clock.ts";
import { DAY_MS } from "../contract/duration.ts";
import type { TimeInterval } from "../judging/interval.ts";
import type fc from "fast-check";
import { describe, type Answer } from "../world/exchange.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import type { AccessState, CodeState, Expectation, GrantState, Model } from "./states.ts";

/** The service that a history runs against. */
export interface Real {
  readonly world: World;
  readonly clients: readonly Client[];
  /** An account whose notifications all come from this history; undefined if the run cannot have one. */
  readonly accountId: string | undefined;
  /** A state that several authorizations of this history send. */
  readonly sharedState: string;
}

/** One step of a history. */
export type Command = fc.AsyncCommand<Model, Real>;

/** The service's answer differs from what the model expects. */
export class Disagreement extends Error {
  readonly expected: string;
  readonly actual: string;
  constructor(expected: string, actual: string) {
    super(actual);
    this.name = "Disagreement";
    this.expected = expected;
    this.actual = actual;
  }
}

export const command = (
  name: string,
  check: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<void>,
): Command => ({
  check,
  run,
  toString: () => name,
});

/** Does something and returns the interval in which it happened. Each moment is read once, because time never runs backwards. */
export const during = async <T>(
  model: Model,
  { world }: Real,
  action: () => Promise<T>,
): Promise<{ value: T; at: TimeInterval }> => {
  const { earliestMs } = model.now;
  const value = await action();
  model.now = await world.clock.now();
  return { value, at: { earliestMs, latestMs: model.now.latestMs } };
};

/**
 * What was last waited for and what belongs to it, then the newest, then older ones. `pick` counts from the front and
 * wraps around.
 */
export const pickFrom = <T extends CodeState | GrantState | AccessState>(
  { focus }: Model,
  all: readonly T[],
  pick: number,
): T => {
  const grant = focus !== undefined && "grant" in focus ? focus.grant : focus;
  const belongs = (one: T): boolean =>
    one === grant || ("grant" in one && grant !== undefined && one.grant === grant);
  const rank = (one: T): number => (one === focus ? 0 : belongs(one) ? 1 : 2);
  const ordered = all.toReversed().toSorted((a, b) => rank(a) - rank(b));
  return ordered[pick % ordered.length] as T;
};

export const clientOf = (real: Real, index: number): Client =>
  real.clients[index % real.clients.length] as Client;

/** Compares an answer with what the model expects, and counts the decision. */
export const compare = (
  model: Model,
  expectation: Expectation,
  came: boolean,
  subject: string,
  answer: Answer,
): void => {
  if (expectation.outcome === "either") return;
  model.decided.push(expectation.state);
  if (came === (expectation.outcome === "yield")) return;
  throw new Disagreement(
    `${subject} ${expectation.outcome === "yield" ? "succeeds" : "is refused"} (${expectation.state})`,
    `${came ? "it succeeded" : "it was refused"}: ${describe(answer)}`,
  );
};

/** How much later than requested a history may wake, as a fraction of its wait; lifetimes are orders of magnitude apart. */
const SLACK_FROM_AFAR = 8;

/** How long before the next end of a credential a wait is over that need not be punctual, beyond the guard, in milliseconds. */
const BEFORE_END_MS = 5_000;
/** The longest such time, in milliseconds; shorter than notifications are listed for, if the history has any. */
const LONGEST_CALM_MS = { withEvents: DAY_MS, without: 8 * DAY_MS } as const;

/** How much longer than this wait none of the history's credentials changes its state, in milliseconds. */
const calmAfterMs = ({ now, codes, grants, accesses, events, guardMs }: Model, waitMs: number): number => {
  const untilMs = now.latestMs + waitMs;
  // A used code is refused before and after its end.
  const leftMs = [...codes.filter(({ used }) => !used), ...grants, ...accesses]
    .map(({ issued, lifetimeMs }) => issued.earliestMs + lifetimeMs - untilMs)
    .filter((ms) => ms + guardMs > 0);
  const mostMs = LONGEST_CALM_MS[events.length > 0 ? "withEvents" : "without"];
  return Math.min(mostMs, ...leftMs.map((ms) => Math.max(0, ms - guardMs - BEFORE_END_MS)));
};

/**
 * Lets time pass and reads the clock into the model. Histories that need not be punctual are woken in groups, which are
 * as large as their states allow, larger if each request takes long, unless they are `bounded` by the slack.
 */
export const sleep = async (
  model: Model,
  { world }: Real,
  waitMs: number,
  slackMs: number,
  bounded = false,
): Promise<void> => {
  const fromAfarMs = world.prepared.isFar ? waitMs * SLACK_FROM_AFAR : 0;
  const longestMs = bounded ? slackMs : Math.max(slackMs, fromAfarMs, calmAfterMs(model, waitMs));
  model.now = await sleepFrom(world.clock, model.now, waitMs, longestMs);
  model.leftToWaitMs -= waitMs;
};
