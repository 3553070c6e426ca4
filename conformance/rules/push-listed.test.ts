import { expect, it } from "vitest";
import { parseJson } from "../contract/json.ts";
import { answer, madeNotification } from "../testing/made.ts";
import { pushRunOf, senderOf } from "../testing/push-runs.ts";
import type { ListRequest } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { pushesAreListed } from "./push-listed.ts";

const whole = pushRunOf(senderOf("R1"));
const pushRun = { ...whole, pushCases: whole.pushCases.slice(0, 1) };
const [body] = pushRun.pushCases.flatMap(({ pushes }) => pushes.map(({ line }) => line.body));
const pushed = parseJson(body ?? "") as { id: string };

/** A service that lists an older notification and, if asked by its id so often, the pushed one; or never without a filter. */
const worldListing = (after: { readonly lookups: number; readonly withoutFilter?: boolean }): World => {
  let lookups = 0;
  const given = (json: unknown) => Promise.resolve(answer({ json, text: JSON.stringify(json) }));
  const world = {
    limits: { defaultPage: 0 },
    tolerances: { visibilityRealMs: 60_000 },
    clock: { kind: "virtual" },
    client: { id: "one", secret: "secret" },
    evidence: {
      exchanges: () => [],
      addPushes: () => {},
      addExchanges: () => {},
      malformedTokenSets: [],
    },
    target: {
      authorize: () => given({ code: "code", state: "state", timestamp: 1 }),
      exchange: () =>
        given({ accessToken: "access", refreshToken: "refresh", expiresIn: 3_600, timestamp: 1 }),
      list: ({ query = {} }: ListRequest) => {
        if (query["id"] !== undefined) lookups += 1;
        const isFiltered = (query["id"] ?? query["accountId"]) !== undefined;
        const shows = lookups >= after.lookups && (isFiltered || after.withoutFilter !== false);
        const all = [...(isFiltered ? [] : [madeNotification]), ...(shows ? [pushed] : [])];
        return given({ data: Number(query["page"] ?? 0) === 0 ? all : [], total: all.length });
      },
    },
  };
  return world as unknown as World;
};

it("an index that lags behind in real time may list a push later, in the whole list too", async () => {
  expect(pushed.id).not.toBe(madeNotification.id);
  expect(await pushesAreListed(worldListing({ lookups: 3 }), pushRun)).toMatchObject({
    kind: "passed",
    cases: 1,
  });
});

it("a push that is listed under its id must also be in the whole list", async () => {
  const world = worldListing({ lookups: 3, withoutFilter: false });
  expect(await pushesAreListed(world, pushRun)).toMatchObject({
    kind: "failed",
    expected: "a pushed notification is listed among all others",
  });
});
