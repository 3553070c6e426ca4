import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour, type FakeBehaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import { accessRules } from "./access.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;

const service = (replaces: Replaces): FakeBehaviour =>
  behaviourFrom("of a test", { summary: "of a test", replaces });

test("the sound service keeps every promise about access tokens", async () => {
  const results = await judgeAll(Object.values(accessRules));
  expect(results.map(({ id, verdict }) => [id, verdict.kind])).toEqual([
    ["access.required", "passed"],
    ["access.header", "passed"],
    ["access.lifetime", "passed"],
  ]);
});

const found =
  (matches: (stored: string, presented: string) => boolean): Replaces =>
  () => ({
    findAccessToken: (presented, { credentials }) =>
      [...credentials.accessTokens.values()].find(({ token }) => matches(token, presented)),
  });

const broken: readonly (readonly [
  rule: keyof typeof accessRules,
  what: string,
  replaces: Replaces,
  actual: RegExp,
])[] = [
  [
    "nothingIsGivenWithoutAValidToken",
    "looks up a notification by id for anyone",
    (sound) => ({
      findAccessToken: (presented, context) =>
        sound.findAccessToken(presented, context) ??
        (/[?&]id=/.test(context.from.url ?? "")
          ? [...context.credentials.accessTokens.values()].at(-1)
          : undefined),
    }),
    /an invented token: status 200/,
  ],
  [
    "nothingIsGivenWithoutAValidToken",
    "looks at the last element of a list of tokens",
    found((stored, presented) => presented.split(",").at(-1)?.trim() === stored),
    /list: status 200/,
  ],
  [
    "nothingIsGivenWithoutAValidToken",
    "ignores white space in a token",
    found((stored, presented) => presented.replaceAll(/\s/g, "") === stored),
    /a (space|tab) inside the token: status 200/,
  ],
  [
    "nothingIsGivenWithoutAValidToken",
    "takes the token from a cookie too",
    (sound) => ({
      readAccessToken: (context) =>
        sound.readAccessToken(context) ?? /accessToken=([^;]*)/.exec(context.from.headers.cookie ?? "")?.[1],
    }),
    /in Cookie: status 200/,
  ],
  [
    "nothingIsGivenWithoutAValidToken",
    "compares all but the middle of a token",
    found(
      (stored, presented) =>
        presented.length === stored.length &&
        presented.slice(0, 9) === stored.slice(0, 9) &&
        presented.slice(-9) === stored.slice(-9),
    ),
    /the token: .*: status 200/,
  ],
  [
    "accessTokenLivesForExpiresIn",
    "counts an access token's time from the authorization",
    (sound) => ({
      afterExchange: (code, tokens, context) => {
        sound.afterExchange(code, tokens, context);
        tokens.latestAccess.issuedAtMs = code.issuedAtMs;
      },
    }),
    /refused at an age of at most/,
  ],
  [
    "accessTokenLivesForExpiresIn",
    "renews a token that is used in its last minute",
    (sound) => ({
      accessTokenIsAlive: (record, context) => {
        const alive = sound.accessTokenIsAlive(record, context);
        if (alive && context.nowMs - record.issuedAtMs > record.lifetimeMs - 60_000)
          record.issuedAtMs = context.nowMs;
        return alive;
      },
    }),
    /accepted at an age of at least/,
  ],
  [
    "accessTokenLivesForExpiresIn",
    "renews the earlier token with a refresh",
    () => ({
      afterRefresh: (_record, previous, { nowMs }) => {
        previous.issuedAtMs = nowMs;
      },
    }),
    /accepted at an age of at least/,
  ],
  [
    "headerNameMayBeCapitalisedAnyhow",
    "does not read the documented header at all",
    () => ({ readAccessToken: ({ from }) => from.headers.authorization }),
    /access-token-missing/,
  ],
];

test.each(broken)("%s fails on a service that %s", async (rule, _what, replaces, actual) => {
  const verdict = await judge(accessRules[rule], { behaviour: service(replaces) });
  if (verdict.kind !== "failed") throw new Error(JSON.stringify(verdict));
  expect(verdict.breach.actual).toMatch(actual);
  expect(verdict.breach.reproduction.replayed.failures).toBeGreaterThan(0);
});

test("a refusal in the envelope of a page gives nothing away", async () => {
  const envelope = service(() => ({
    renderRefusal: () => ({
      status: 401,
      headers: { "content-type": "application/json" },
      body: '{"data":[],"total":0}',
    }),
  }));
  for (const rule of Object.values(accessRules))
    expect((await judge(rule, { behaviour: envelope })).kind).toBe("passed");
});

test("each token is held to its own expiresIn", async () => {
  const varying = service(() => {
    let issued = 0;
    return { accessTokenLifetimeMs: () => 60_000 * (1 + ((issued += 1) % 5)) };
  });
  expect((await judge(accessRules.accessTokenLivesForExpiresIn, { behaviour: varying })).kind).toBe("passed");
});
