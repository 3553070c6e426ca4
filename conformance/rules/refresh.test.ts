import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour, type FakeBehaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import { accessRules } from "./access.ts";
import { refreshRules } from "./refresh.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;
type RefreshRecord = Parameters<Behaviour["takeRefreshToken"]>[0];

const DAY_MS = 86_400_000;
const service = (replaces: Replaces): FakeBehaviour =>
  behaviourFrom("of a test", { summary: "of a test", replaces });

test("the sound service keeps every promise about refreshing", async () => {
  const results = await judgeAll(Object.values(refreshRules));
  expect(results.filter(({ verdict }) => !["passed", "observed"].includes(verdict.kind))).toEqual([]);
  expect(results.find(({ id }) => id === "refresh.lifetime")?.verdict).toMatchObject({
    facts: { refreshToken: { lifetimeMs: 30 * DAY_MS, refusedFromMs: 30 * DAY_MS + 500 } },
  });
});

/** Adds to what a right refresh answers with. */
const answering =
  (
    more: (fields: Readonly<Record<string, unknown>>, record: RefreshRecord) => Record<string, unknown>,
  ): Replaces =>
  (sound) => ({
    refreshFields: (record, timestamp, expiresIn, context) => {
      const fields = sound.refreshFields(record, timestamp, expiresIn, context);
      return { ...fields, ...more(fields, record) };
    },
  });

const uses = (): ((record: RefreshRecord) => number) => {
  const counts = new WeakMap<RefreshRecord, number>();
  return (record) => {
    counts.set(record, (counts.get(record) ?? 0) + 1);
    return counts.get(record) ?? 0;
  };
};

const broken: readonly (readonly [
  rule: keyof typeof refreshRules,
  what: string,
  replaces: Replaces,
  actual: RegExp,
])[] = [
  [
    "refreshGivesATokenSet",
    "says null for expiresIn",
    answering(() => ({ expiresIn: null })),
    /"expiresIn":null/,
  ],
  [
    "refreshGivesATokenSet",
    "calls the token access_token",
    answering(({ accessToken }) => ({ accessToken: undefined, access_token: accessToken })),
    /access_token/,
  ],
  [
    "refreshGivesATokenSet",
    "leaves the timestamp out from the second refresh on",
    () => {
      const count = uses();
      return {
        refreshFields: (record, timestamp, expiresIn) => ({
          accessToken: record.latestAccess.token,
          expiresIn,
          ...(count(record) > 1 ? {} : { timestamp }),
        }),
      };
    },
    /"expiresIn":7200}/,
  ],
  [
    "refreshGivesNoRefreshToken",
    "brings the refresh token in an object of its own",
    answering((_fields, { token }) => ({ session: { next: token } })),
    /session/,
  ],
  [
    "refreshTokenWorksAgainAndAgain",
    "allows ten uses",
    () => {
      const count = uses();
      return { takeRefreshToken: (record) => count(record) <= 10 };
    },
    /refresh 11 was refused/,
  ],
  [
    "refreshTokenWorksAgainAndAgain",
    "refuses a use within a minute of the last one's answer, but not at once",
    () => {
      const last = new WeakMap<RefreshRecord, number>();
      return {
        takeRefreshToken: (record, { nowMs }) => {
          const sinceMs = nowMs - (last.get(record) ?? nowMs);
          last.set(record, nowMs);
          return sinceMs === 0 || sinceMs > 60_000;
        },
      };
    },
    /the refresh at an age of 2 s was refused/,
  ],
  [
    "refreshTokenLivesThirtyDays",
    "counts from the authorization",
    (sound) => ({
      afterExchange: (code, tokens, context) => {
        sound.afterExchange(code, tokens, context);
        tokens.issuedAtMs = code.issuedAtMs;
      },
    }),
    /refused at an age of at most/,
  ],
  [
    "useDoesNotLengthenThirtyDays",
    "renews what is used in its last hour",
    () => ({
      afterRefresh: (record, _previous, { nowMs, limits }) => {
        if (nowMs - record.issuedAtMs > limits.refreshTokenLifetimeMs - 3_600_000) record.issuedAtMs = nowMs;
      },
    }),
    /accepted at an age of at least/,
  ],
  [
    "useDoesNotLengthenThirtyDays",
    "renews the client's other tokens at each exchange",
    () => ({
      afterExchange: (_code, tokens, { credentials, nowMs }) => {
        for (const other of credentials.refreshTokens.values())
          if (other.clientId === tokens.clientId) other.issuedAtMs = nowMs;
      },
    }),
    /accepted at an age of at least/,
  ],
  [
    "refreshWorksOnceTheAccessTokenIsDead",
    "forgets the session a day after the access token's end",
    () => ({
      refreshTokenIsAlive: ({ latestAccess }, { nowMs }) =>
        nowMs < latestAccess.issuedAtMs + latestAccess.lifetimeMs + DAY_MS,
    }),
    /refused: status 400/,
  ],
  [
    "afterThirtyDaysAuthorizingAnewWorks",
    "revives the old token with a new authorization",
    (sound) => ({
      keepCode: (code, context) => {
        sound.keepCode(code, context);
        for (const old of context.credentials.refreshTokens.values())
          if (context.nowMs - old.issuedAtMs > 30 * DAY_MS) old.issuedAtMs = context.nowMs;
      },
    }),
    /made it work again/,
  ],
  [
    "unknownRefreshTokensAreRefused",
    "leaves dashes out of account",
    () => ({
      findRefreshToken: (presented, { credentials }) =>
        [...credentials.refreshTokens.values()].find(
          ({ token }) =>
            typeof presented === "string" && presented.replaceAll("-", "") === token.replaceAll("-", ""),
        ),
    }),
    /yielded a working accessToken/,
  ],
  [
    "unknownRefreshTokensAreRefused",
    "revokes a client's tokens upon an unknown one",
    () => ({
      afterRefusedRefresh: (_record, kind, { credentials }) => {
        if (kind === "refresh-token-unknown")
          for (const token of credentials.refreshTokens.values()) token.revoked = true;
      },
    }),
    /while one that nothing was tried with works/,
  ],
  [
    "unknownClientsAreRefusedARefresh",
    "finds a client by the beginning of its id",
    () => ({
      findClientToRefresh: (clientId, clients) =>
        [...clients.values()].find(
          ({ id }) => typeof clientId === "string" && clientId !== "" && id.startsWith(clientId),
        ),
    }),
    /yielded a working accessToken/,
  ],
  [
    "unknownClientsAreRefusedARefresh",
    "takes a list of one for the client",
    () => ({ findClientToRefresh: (clientId, clients) => clients.get(String(clientId)) }),
    /in an array: it yielded/,
  ],
];

test.each(broken)("%s fails on a service that %s", async (rule, _what, replaces, actual) => {
  const verdict = await judge(refreshRules[rule], { behaviour: service(replaces) });
  if (verdict.kind !== "failed") throw new Error(JSON.stringify(verdict));
  expect(verdict.breach.actual).toMatch(actual);
  expect(verdict.breach.reproduction.replayed.failures).toBeGreaterThan(0);
});

test("a refreshed token must show what an exchanged one does", async () => {
  const hiding = service((sound) => ({
    matching: (filters, viewer, context) =>
      viewer.refreshed ? { where: "FALSE", parameters: [] } : sound.matching(filters, viewer, context),
  }));
  // The other rule reads notifications, so that the run has some.
  const results = await judgeAll(
    [refreshRules.refreshedTokensWork, accessRules.nothingIsGivenWithoutAValidToken],
    {
      behaviour: hiding,
    },
  );
  expect(results[0]?.verdict).toMatchObject({
    kind: "failed",
    breach: { actual: expect.stringContaining('"total":0') },
  });
});

test("a token that another client may use is a warning", async () => {
  const verdict = await judge(refreshRules.refreshTokenBelongsToItsClient, {
    behaviour: service(() => ({ refreshTokenBelongsTo: () => true })),
  });
  expect(verdict).toMatchObject({
    kind: "warned",
    breach: { actual: expect.stringMatching(/yielded a working/) },
  });
});

test("what becomes of the previous access token is watched, not judged", async () => {
  const verdict = await judge(refreshRules.previousAccessTokenIsWatched, {
    behaviour: service(() => ({
      afterRefresh: (_record, previous) => {
        previous.revoked = true;
      },
    })),
  });
  expect(verdict).toMatchObject({
    kind: "observed",
    fingerprint: '{"exchangedTokenAfterARefresh":"refused","refreshedTokenAfterTheNext":"refused"}',
  });
});

test("an access token that outlives the refresh token leaves nothing to ask after its end", async () => {
  const verdict = await judge(refreshRules.refreshWorksOnceTheAccessTokenIsDead, {
    behaviour: service(() => ({ accessTokenLifetimeMs: () => 40 * DAY_MS })),
  });
  expect(verdict.kind).toBe("not-applicable");
});

test("where time cannot be moved, what can be judged at once still is", async () => {
  const withoutClock = { profile: (profile: { hooks?: object }) => ({ ...profile, hooks: {} }) as never };
  const { refreshTokenWorksAgainAndAgain } = refreshRules;
  expect(await judge(refreshTokenWorksAgainAndAgain, withoutClock)).toMatchObject({
    kind: "could-not-run",
    missing: "clock.advance",
  });
  const single = service(() => {
    const count = uses();
    return { takeRefreshToken: (record) => count(record) <= 1 };
  });
  expect(await judge(refreshTokenWorksAgainAndAgain, { ...withoutClock, behaviour: single })).toMatchObject({
    kind: "failed",
  });
});
