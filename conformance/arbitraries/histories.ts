import fc from "fast-check";
import type { Limits } from "../contract/limits.ts";
import type { Command } from "../model/command.ts";
import {
  authorize,
  exchange,
  list,
  logIn,
  logInWithSharedState,
  presentAll,
  refresh,
  tryAll,
  wait,
  waitForEnd,
} from "../model/commands.ts";
import { readAccount, triggerEvent } from "../model/events.ts";

export type History = readonly Command[];

/** How each history ends, to reveal effects of its steps on other credentials. */
const closing: History = [readAccount(0, "settled"), tryAll(), presentAll()];

/** Prefers what was last waited for, otherwise the newest. */
const newest = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(7) });
/** Any of the last few, because they show what happened to the others. */
const anyRecent = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(5) });

/** Distance from the end of a lifetime: at most a tenth of the shortest one. */
const distanceMs = ({ codeLifetimeMs }: Limits): fc.Arbitrary<number> => {
  const upTo = (mostMs: number): fc.Arbitrary<number> =>
    fc.nat(Math.floor(Math.min(mostMs, codeLifetimeMs / 10)));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: upTo(2_000) },
    { weight: 1, arbitrary: upTo(60_000) },
  );
};

const steps = (
  limits: Limits,
  accessLifetimeMs: number,
  withEvents: boolean,
): fc.WeightedArbitrary<Command>[] => {
  const someTimeMs = fc.oneof(
    fc.integer({ min: 1, max: Math.ceil(Math.min(30_000, limits.codeLifetimeMs)) }),
    fc.integer({ min: 1, max: Math.ceil(limits.codeLifetimeMs) }),
    fc.integer({
      min: 1,
      max: Math.max(1, Math.ceil(Math.min(accessLifetimeMs, limits.refreshTokenLifetimeMs))),
    }),
  );
  const toAnEnd = fc.tuple(ends, newest, sides, distanceMs(limits)).map((one) => waitForEnd(...one));
  return [
    { weight: 4, arbitrary: fc.nat(1).map(logIn) },
    { weight: 2, arbitrary: fc.nat(1).map(authorize) },
    { weight: 3, arbitrary: newest.map((pick) => exchange(pick, "unused", "right")) },
    { weight: 1, arbitrary: anyRecent.map((pick) => exchange(pick, "used", "right")) },
    { weight: 1, arbitrary: newest.map((pick) => exchange(pick, "unused", "wrong")) },
    { weight: 3, arbitrary: anyRecent.map(refresh) },
    { weight: 3, arbitrary: anyRecent.map(list) },
    { weight: 1, arbitrary: fc.constant(tryAll()) },
    { weight: 1, arbitrary: someTimeMs.map(wait) },
    { weight: 3, arbitrary: toAnEnd },
    ...(withEvents
      ? [
          { weight: 2, arbitrary: fc.constant(triggerEvent()) },
          { weight: 2, arbitrary: anyRecent.map((pick) => readAccount(pick, "at once")) },
        ]
      : []),
  ];
};

const often = <const T>(weight: number, value: T): fc.WeightedArbitrary<T> => ({
  weight,
  arbitrary: fc.constant(value),
});
const ends = fc.oneof(often(3, "code"), often(3, "access token"), often(1, "refresh token"));
const sides = fc.oneof(often(1, "before"), often(2, "after"));

/**
 * Histories of up to `longest` commands and the closing ones. The size must be `max` and without bias: otherwise
 * fast-check keeps histories too short to reach deep states.
 */
export const histories = (
  limits: Limits,
  accessLifetimeMs: number,
  withEvents: boolean,
  longest: number,
): fc.Arbitrary<History> =>
  fc
    .tuple(
      fc.noBias(
        fc.array(fc.oneof(...steps(limits, accessLifetimeMs, withEvents)), {
          size: "max",
          maxLength: longest,
        }),
      ),
      new Closing(),
    )
    .map((parts) => parts.flat());

/** Always all closing commands; shrinking leaves out those that a failure does not need. */
class Closing extends fc.Arbitrary<History> {
  override generate(): fc.Value<History> {
    return new fc.Value(closing, undefined);
  }
  override canShrinkWithoutContext(value: unknown): value is History {
    return Array.isArray(value);
  }
  override shrink(commands: History): fc.Stream<fc.Value<History>> {
    return fc.stream(
      commands.map((_, index) => new fc.Value<History>(commands.toSpliced(index, 1), undefined)).values(),
    );
  }
}

/**
 * Short histories in which one step may disturb what another left behind: orders that a handful of random histories can
 * miss. At the end every credential is tried once more.
 */
export const tellingOrders = (withEvents: boolean): readonly History[] =>
  [
    [logIn(0), refresh(0), logIn(0)],
    [logIn(0), logIn(0), refresh(1), list(1)],
    [logIn(0), refresh(0), refresh(0), logIn(1), refresh(1)],
    [logIn(0), logIn(1), exchange(0, "used", "right"), refresh(1)],
    [authorize(0), authorize(0), exchange(0, "unused", "right"), refresh(0)],
    [authorize(0), authorize(1), exchange(0, "unused", "wrong"), logIn(0)],
    [logIn(0), exchange(0, "used", "wrong"), refresh(0), list(0)],
    [logInWithSharedState(0), logInWithSharedState(1), logInWithSharedState(0)],
    [logIn(0), waitForEnd("access token", 0, "after", 0), refresh(0), logIn(0)],
    [authorize(0), logIn(0), waitForEnd("code", 0, "after", 0), refresh(0)],
    ...(withEvents
      ? [[logIn(0), triggerEvent(), refresh(0), triggerEvent(), readAccount(0, "at once")]]
      : []),
  ].map((steps) => [...steps, ...closing]);
