import { describe, expect, it } from "vitest";
import { TransportError, type Answer } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { raceInLane, type Met } from "./code-race.ts";
import type { Connections } from "./shared/many.ts";

/** Plays a lane in which the nth exchange of each code has this result. */
const race = async (resultOf: (nth: number) => "tokens" | "refusal" | 504 | TransportError["reason"]) => {
  let exchanges = 0;
  let nth = 0;
  const answer = (status: number, json: object): Answer => ({
    exchange: (exchanges += 1),
    status,
    headers: [],
    text: "",
    json,
  });
  const exchange = (): Promise<Answer> => {
    const result = resultOf((nth += 1));
    if (result === "tokens")
      return Promise.resolve(answer(200, { accessToken: "a", refreshToken: "r", expiresIn: 3_600 }));
    if (result === "refusal") return Promise.resolve(answer(400, {}));
    if (result === 504) return Promise.resolve(answer(result, {}));
    return Promise.reject(new TransportError((exchanges += 1), result, result));
  };
  const world = {
    client: { id: "client", secret: "secret" },
    prepared: {},
    evidence: { ignoreLoss: () => {}, exchanges: () => [] },
    target: {
      authorize: () => {
        nth = 0;
        return Promise.resolve(answer(200, { code: `code ${exchanges}`, state: "s" }));
      },
      list: () => Promise.resolve(answer(200, { data: [], total: 0 })),
    },
  } as unknown as World;
  const met: Met = { rounds: 0, unanswered: 0, roundsWithoutWinner: 0 };
  const connections = [0, 1, 2].map(() => ({ exchange })) as unknown as Connections;
  return { verdict: await raceInLane(world, connections, 0, met), met };
};

describe("a series of races for codes", () => {
  it("passes if one contender gets tokens and the others do not, be it that the service hangs up on them", async () => {
    for (const other of ["refusal", "closed", "protocol"] as const)
      expect((await race((nth) => (nth === 1 ? "tokens" : other))).verdict).toEqual({ kind: "passed" });
  });

  it.each([
    ["timeout", /more time for it/],
    ["closed", /connections stay open/],
    ["throttled", /rate limit/],
    [504, /gateway/],
  ] as const)(
    "is undecided if no contender gets an answer (%s), and says what would help",
    async (result, settle) => {
      const { verdict, met } = await race(() => result);
      expect(verdict).toMatchObject({
        kind: "inconclusive",
        settle: expect.stringMatching(settle) as string,
      });
      expect(met.unanswered).toBeGreaterThan(met.rounds);
    },
  );

  it.each(["timeout", "throttled", 504] as const)(
    "is undecided if only the winner gets one (%s)",
    async (result) => {
      const { verdict } = await race((nth) => (nth === 1 ? "tokens" : result));
      expect(verdict).toMatchObject({ kind: "inconclusive" });
    },
  );

  it("is undecided if nobody is seen to win", async () => {
    const { verdict } = await race((nth) => (nth === 1 ? "timeout" : "refusal"));
    expect(verdict).toMatchObject({ kind: "inconclusive" });
  });
});
