import { expect, it } from "vitest";
import type { Clock } from "../world/clock.ts";
import { TransportError, type Answer } from "../world/exchange.ts";
import { movedClock } from "../world/time/moved-clock.ts";
import { emptyPrepared, type World } from "../world/world.ts";
import { judgeCrowd } from "./lifetime.ts";
import { simulatedRun } from "./testing/late-target.ts";

const LIFETIME_MS = 600_000;

type Result = "tokens" | "refusal" | TransportError["reason"];

/** Judges both sides of twenty-four codes, the nth of which gets this result. */
const judge = async (resultOf: (nth: number) => Result) => {
  let nowMs = 1_000_000;
  const now = () => Promise.resolve({ earliestMs: nowMs, latestMs: nowMs });
  const advance = (byMs: number) => {
    nowMs += byMs;
    return now();
  };
  const rule = movedClock({ now, advance, inFlight: () => 0 }).join();
  const exchange = ({ nth }: { readonly nth: number }): Promise<Pick<Answer, "exchange" | "status">> => {
    const result = resultOf(nth);
    const statuses: Partial<Record<Result, number>> = { tokens: 200, refusal: 400 };
    const status = statuses[result];
    return status === undefined
      ? Promise.reject(new TransportError(nth, result as TransportError["reason"], result))
      : Promise.resolve({ exchange: nth, status });
  };
  const worldWith = (clock: Clock): World =>
    ({
      clock,
      prepared,
      target: { exchange, hasCookies: () => false },
      tolerances: { lifetimeGuardMs: 500 },
    }) as unknown as World;
  const prepared = { ...emptyPrepared };
  const run = simulatedRun(rule, worldWith);
  const [alive, dead] = await Promise.all(
    judgeCrowd(worldWith(rule), run, {
      name: "code",
      lifetimeMs: () => LIFETIME_MS,
      issue: (_, nth) => Promise.resolve(nth),
      alive: async ({ target }, nth) => (await target.exchange({ nth })).status === 200,
    }),
  );
  return { alive, dead };
};

it.each([
  ["throttled", /rate limit/],
  ["timeout", /more time for it/],
  ["refused", /accepts connections/],
] as const)(
  "a crowd of which no probe is answered (%s) is undecided, also after its end",
  async (result, settle) => {
    const undecided = {
      kind: "inconclusive",
      settle: expect.stringMatching(settle) as string,
    };
    expect(await judge(() => result)).toMatchObject({ alive: undecided, dead: undecided });
  },
);

it("one that gets what it should not breaks it, whatever the others get", async () => {
  const oneGets = (one: Result, others: Result) => judge((nth) => (nth === 7 ? one : others));
  for (const others of ["timeout", "closed", "refusal"] as const)
    expect((await oneGets("tokens", others)).dead).toMatchObject({ kind: "failed" });
  expect((await oneGets("refusal", "tokens")).alive).toMatchObject({ kind: "failed" });
});

it("a few that get no answer do not matter", async () => {
  const threeAreLost = (others: Result) => judge((nth) => (nth < 3 ? "timeout" : others));
  expect((await threeAreLost("tokens")).alive).toMatchObject({ kind: "passed" });
  expect((await threeAreLost("refusal")).dead).toMatchObject({ kind: "passed" });
});
