import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import { serviceRules } from "./service.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;
const service = (replaces: Replaces) => behaviourFrom("of a test", { summary: "of a test", replaces });
const json = (status: number, body: unknown) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const refusing =
  (message: (sent: string) => string): Replaces =>
  () => ({
    renderRefusal: (_refusal, { from }) => json(400, { message: message(from.url ?? "") }),
  });

test("the sound service survives everything and tells nothing about its inside", async () => {
  const results = await judgeAll(Object.values(serviceRules), { effort: "standard" });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["passed", "passed", "observed"]);
});

test.each<readonly [what: string, replaces: Replaces]>([
  [
    "fails on bodies that it cannot read",
    (sound) => ({
      renderRefusal: (refusal, context) =>
        refusal.kind === "body-malformed" ? json(500, {}) : sound.renderRefusal(refusal, context),
    }),
  ],
  [
    "fails on fields that are no strings",
    (sound) => ({
      findCode: (presented, context) => {
        if (typeof presented !== "string") throw new Error("not a string");
        return sound.findCode(presented, context);
      },
    }),
  ],
  [
    "hangs up on queries that it cannot read",
    (sound) => ({
      readQuery: (raw, context) => {
        const query = sound.readQuery(raw, context);
        if (query === undefined) context.from.socket.destroy();
        return query;
      },
    }),
  ],
  [
    "serves no more after a bad request",
    (sound) => {
      let isBroken = false;
      return {
        readBody: (raw, context) => {
          const body = sound.readBody(raw, context);
          isBroken ||= body === undefined;
          return isBroken ? undefined : body;
        },
      };
    },
  ],
])("bad input is seen to harm a service that %s", async (_what, replaces) => {
  const verdict = await judge(serviceRules.badInputIsAnsweredAndSurvived, { behaviour: service(replaces) });
  expect(verdict.kind).toBe("warned");
});

test.each<readonly [what: string, replaces: Replaces]>([
  ["a stack trace", refusing(() => "Error: no\n    at exchange (/app/routes/exchange.ts:12:7)")],
  ["a path", refusing(() => "cannot open /var/lib/service/codes.sqlite")],
  ["a message of the database", refusing(() => "SQLITE_CONSTRAINT: codes.code")],
  [
    "the client's secret",
    (sound) => ({
      renderSuccess: (fields, context) =>
        sound.renderSuccess({ ...fields, client: [...context.clients.values()][0] }, context),
    }),
  ],
])("%s in an answer is seen", async (_what, replaces) => {
  const verdict = await judge(serviceRules.answersHoldNoInternals, { behaviour: service(replaces) });
  expect(verdict.kind).toBe("warned");
});

test("what a request brought along may come back in the answer", async () => {
  const behaviour = service(refusing((sent) => `There is nothing at ${sent} for this method.`));
  expect(await judge(serviceRules.answersHoldNoInternals, { behaviour })).toMatchObject({ kind: "passed" });
});

test("equal services give equal fingerprints of their content types", async () => {
  const [first, second] = [
    await judge(serviceRules.whichContentTypesAreUsed, { seed: 1 }),
    await judge(serviceRules.whichContentTypesAreUsed, { seed: 2 }),
  ];
  expect(first).toEqual(second);
  expect(first).toMatchObject({ kind: "observed" });
});
