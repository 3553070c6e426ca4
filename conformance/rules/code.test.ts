import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import { codeRules } from "./code.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;
type CodeRecord = Parameters<Behaviour["takeCode"]>[0];

const service = (replaces: Replaces) => behaviourFrom("of a test", { summary: "of a test", replaces });

/** Marks and then asks, so that what is replaced decides about every attempt after the first. */
const againIf =
  (allowed: (record: CodeRecord, context: Parameters<Behaviour["takeCode"]>[1]) => boolean): Replaces =>
  () => ({
    takeCode: (record, context) => {
      if (record.usedAtMs !== undefined) return allowed(record, context);
      record.usedAtMs = context.nowMs;
      return true;
    },
  });

test("the sound service keeps every promise about codes", async () => {
  const results = await judgeAll(Object.values(codeRules));
  expect(results.filter(({ verdict }) => !["passed", "observed"].includes(verdict.kind))).toEqual([]);
  expect(results.find(({ id }) => id === "code.lifetime")?.verdict).toMatchObject({
    facts: { code: { lifetimeMs: 600_000, refusedFromMs: 600_500 } },
  });
});

const broken: readonly (readonly [
  rule: keyof typeof codeRules,
  what: string,
  replaces: Replaces,
  actual: RegExp,
])[] = [
  ["codeWorksOnce", "never grants", () => ({ takeCode: () => false }), /it got status/],
  [
    "codeWorksOnce",
    "remembers the twenty codes used last",
    () => {
      const used: string[] = [];
      return {
        takeCode: ({ code }) => {
          if (used.includes(code)) return false;
          used.push(code);
          if (used.length > 20) used.shift();
          return true;
        },
      };
    },
    /yielded a working accessToken/,
  ],
  [
    "codeWorksOnce",
    "marks the code as it was spelt, and finds it however it is spelt",
    (sound) => {
      const used = new Set<unknown>();
      let presented: unknown;
      return {
        findCode: (value, context) => {
          presented = value;
          return sound.findCode(typeof value === "string" ? value.trim() : value, context);
        },
        takeCode: () => {
          if (used.has(presented)) return false;
          used.add(presented);
          return true;
        },
      };
    },
    /again, with white space/,
  ],
  [
    "codeWorksOnce",
    "lets the code be used again once its tokens have expired",
    (sound) => ({
      ...againIf(
        (record, { nowMs, limits }) => nowMs - (record.usedAtMs ?? 0) > limits.accessTokenLifetimeMs,
      )(sound),
      codeIsAlive: (record, context) => record.usedAtMs !== undefined || sound.codeIsAlive(record, context),
    }),
    /yielded a working accessToken/,
  ],
  [
    "codeWorksOnce",
    "forgets that a code was used when someone presents it with a wrong secret",
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind === "client-unauthenticated") record.usedAtMs = undefined;
      },
    }),
    /yielded a working accessToken/,
  ],
  [
    "codeWorksOnceUnderRace",
    "answers a repeated exchange anew until its tokens have been used",
    againIf((record, { credentials }) =>
      [...credentials.accessTokens.values()].every(
        ({ grant }) => grant !== record.grant || !listedWith.has(grant),
      ),
    ),
    /more than one got tokens/,
  ],
  [
    "codeWorksOnceUnderRace",
    "refuses all of several contenders",
    () => {
      const under = new Map<CodeRecord, number>();
      return {
        takeCode: async (record, { clock }) => {
          under.set(record, (under.get(record) ?? 0) + 1);
          await clock.pause(4);
          if (under.get(record) !== 1 || record.usedAtMs !== undefined) return false;
          record.usedAtMs = 1;
          return true;
        },
      };
    },
    /none of \d contenders/,
  ],
  [
    "codeLivesTenMinutes",
    "counts the ten minutes from the client's latest authorization",
    (sound) => {
      const latest = new Map<string, number>();
      return {
        keepCode: (record, context) => {
          latest.set(record.clientId, context.nowMs);
          sound.keepCode(record, context);
        },
        codeIsAlive: (record, { nowMs, limits }) =>
          nowMs - (latest.get(record.clientId) ?? 0) < limits.codeLifetimeMs,
      };
    },
    /accepted at an age/,
  ],
  [
    "refusedAttemptsDoNotProlongTheCode",
    "brings an expired code back to life by trying it",
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind === "code-expired") record.issuedAtMs = context.nowMs;
      },
    }),
    /accepted at an age/,
  ],
  [
    "codesLiveApart",
    "keeps one code for each state",
    (sound) => ({
      keepCode: (record, context) => {
        for (const [code, other] of context.credentials.codes)
          if (other.state === record.state) context.credentials.codes.delete(code);
        sound.keepCode(record, context);
      },
    }),
    /it got status/,
  ],
  [
    "codesLiveApart",
    "takes a made-up code for an attack and drops the client's codes",
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (kind === "code-unknown") context.credentials.codes.clear();
      },
    }),
    /it got status/,
  ],
  [
    "unknownCodesAreRefused",
    "normalises codes (NFKC)",
    (sound) => ({
      findCode: (value, context) =>
        sound.findCode(typeof value === "string" ? value.normalize("NFKC") : value, context),
    }),
    /full width/,
  ],
  [
    "unknownCodesAreRefused",
    "ignores dashes",
    () => ({
      findCode: (value, { credentials }) =>
        [...credentials.codes.values()].find(
          ({ code }) => typeof value === "string" && code.replaceAll("-", "") === value.replaceAll("-", ""),
        ),
    }),
    /dash/,
  ],
  [
    "unknownCodesAreRefused",
    "finds codes by a pattern",
    () => ({
      findCode: (value, { credentials }) =>
        [...credentials.codes.values()].findLast(
          ({ code, usedAtMs }) =>
            typeof value === "string" && usedAtMs === undefined && (code === value || value === "%"),
        ),
    }),
    /LIKE wildcard/,
  ],
  ["codesBelongToOneClient", "asks for no owner", () => ({ codeBelongsTo: () => true }), /another client/],
  [
    "reuseRevokesTokens",
    "leaves the refresh token alive",
    (sound) => ({
      refreshTokenIsAlive: (record, { nowMs, limits }) =>
        nowMs - record.issuedAtMs < limits.refreshTokenLifetimeMs,
      accessTokenIsAlive: (record, context) => record.refreshed || sound.accessTokenIsAlive(record, context),
    }),
    /went on working after the reuse/,
  ],
];

/** No list request is ever noted here: the fake tells nobody which tokens were used. */
const listedWith = new WeakSet<object>();

test.each(broken)("%s catches a service that %s", async (rule, _what, replaces, actual) => {
  const verdict = await judge(codeRules[rule], { behaviour: service(replaces) });
  expect(verdict).toMatchObject({
    kind: rule === "codesBelongToOneClient" || rule === "reuseRevokesTokens" ? "warned" : "failed",
    breach: {
      actual: expect.stringMatching(actual) as unknown,
      reproduction: {
        replayed: { failures: expect.toSatisfy((failures: number) => failures > 0) as unknown },
      },
    },
  });
});

const right: readonly (readonly [what: string, replaces: Replaces])[] = [
  [
    "uses a code up at the first refused attempt that names it",
    () => ({
      afterRefusedExchange: (record, _kind, { nowMs }) => {
        if (record !== undefined) record.usedAtMs ??= nowMs;
      },
    }),
  ],
  [
    "leaves tokens alone when their code is presented again",
    () => ({ afterRefusedExchange: () => undefined }),
  ],
  [
    "takes each state once only",
    (sound) => {
      const seen = new Set<string>();
      return {
        acceptsState: (state, query, context) => {
          if (state === undefined || seen.has(state)) return false;
          seen.add(state);
          return sound.acceptsState(state, query, context);
        },
      };
    },
  ],
  [
    "serves one contender for a code after the other, slowly",
    () => {
      const queues = new WeakMap<CodeRecord, Promise<unknown>>();
      return {
        takeCode: (record, { clock, nowMs }) => {
          const turn = (queues.get(record) ?? Promise.resolve()).then(async () => {
            await clock.pause(1);
            if (record.usedAtMs !== undefined) return false;
            record.usedAtMs = nowMs;
            return true;
          });
          queues.set(record, turn);
          return turn;
        },
      };
    },
  ],
];

test.each(right)("no promise about codes is broken by a service that %s", async (_what, replaces) => {
  const results = await judgeAll(Object.values(codeRules), { behaviour: service(replaces) });
  expect(results.filter(({ verdict }) => !["passed", "observed", "warned"].includes(verdict.kind))).toEqual(
    [],
  );
});

test("what a refused attempt leaves of a code is observed", async () => {
  const burning = service(right[0]?.[1] ?? (() => ({})));
  const sound = await judge(codeRules.refusedAttemptsUseUpOrNot);
  const burnt = await judge(codeRules.refusedAttemptsUseUpOrNot, { behaviour: burning });
  expect(sound).toMatchObject({
    kind: "observed",
    fingerprint: expect.stringContaining('"a wrong secret":"still works"') as unknown,
  });
  expect(burnt).toMatchObject({
    kind: "observed",
    fingerprint: expect.stringContaining('"a wrong secret":"used up"') as unknown,
  });
  expect(await judge(codeRules.refusedAttemptsUseUpOrNot, { seed: 7 })).toEqual(sound);
});

test("without a second client the rules about one client are judged all the same", async () => {
  const results = await judgeAll(Object.values(codeRules), {
    profile: (profile) => ({ ...profile, clients: profile.clients.slice(0, 1) }),
  });
  const kinds = Object.fromEntries(results.map(({ id, verdict }) => [id, verdict.kind]));
  expect(kinds).toMatchObject({
    "code.single-use": "passed",
    "code.independence": "passed",
    "code.bound-to-client": "could-not-run",
  });
});
