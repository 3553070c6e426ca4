import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import { exchangeRules } from "./exchange.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;

const service = (replaces: Replaces) => behaviourFrom("of a test", { summary: "of a test", replaces });
const page = (status: number, body: string) => ({ status, headers: { "content-type": "text/html" }, body });

/** Refusals of the exchange that carry something more. */
const refusingWith =
  (more: (context: Parameters<Behaviour["renderRefusal"]>[1]) => Record<string, unknown>): Replaces =>
  (sound) => ({
    renderRefusal: (refusal, context) => {
      const answer = sound.renderRefusal(refusal, context);
      if (context.operation !== "exchange") return answer;
      return {
        ...answer,
        body: JSON.stringify({ ...(JSON.parse(answer.body) as object), ...more(context) }),
      };
    },
  });

/** A service that reads bodies in its own way. */
const reading =
  (read: (text: string) => unknown): Replaces =>
  () => ({
    readBody: (raw) => {
      try {
        return read(raw.toString("utf8")) as Record<string, unknown>;
      } catch {
        return undefined;
      }
    },
  });

test("the sound service keeps every promise about exchanges", async () => {
  const results = await judgeAll(Object.values(exchangeRules));
  expect(results.filter(({ verdict }) => !["passed", "observed"].includes(verdict.kind))).toEqual([]);
});

const broken: readonly (readonly [
  rule: keyof typeof exchangeRules,
  what: string,
  replaces: Replaces,
  actual: RegExp,
])[] = [
  [
    "exchangeYieldsTokenSet",
    "tells the time at which it was started",
    () => {
      let startedMs: number | undefined;
      return {
        timestamp: ({ nowMs, operation }) =>
          operation === "exchange" ? (startedMs ??= nowMs - 3_600_000) : nowMs,
      };
    },
    /told \d+/,
  ],
  [
    "exchangeYieldsTokenSet",
    "gives the second client no refresh token",
    (sound) => {
      let clients = new Map<string, number>();
      return {
        exchangeFields: (tokens, timestamp, expiresIn, context) => {
          clients = new Map([...context.clients.keys()].map((id, at) => [id, at]));
          const fields = sound.exchangeFields(tokens, timestamp, expiresIn, context);
          return clients.get(tokens.clientId) === 1 ? { ...fields, refreshToken: undefined } : fields;
        },
      };
    },
    /it got status 200/,
  ],
  [
    "onlyTheRightSecretGetsTokens",
    "lets anyone in at the fifth attempt",
    (sound) => {
      const failures = new Map<unknown, number>();
      return {
        authenticateClient: (id, secret, clients) => {
          const count = (failures.get(secret) ?? 0) + 1;
          failures.set(secret, count);
          const known = sound.findClientToRefresh(id, clients);
          return typeof secret === "string" && secret.length > 8 && count >= 5
            ? known
            : sound.authenticateClient(id, secret, clients);
        },
      };
    },
    /sent 5 times|working accessToken/,
  ],
  [
    "onlyTheRightSecretGetsTokens",
    "compares only as many characters as were sent, if more than half of them",
    (sound) => ({
      authenticateClient: (id, secret, clients) => {
        const client = sound.findClientToRefresh(id, clients);
        return client !== undefined &&
          typeof secret === "string" &&
          secret.length > client.secret.length / 2 &&
          client.secret.startsWith(secret)
          ? client
          : undefined;
      },
    }),
    /without its last character/,
  ],
  [
    "unknownClientsGetNothing",
    "looks clients up in a plain object",
    () => ({
      authenticateClient: (id, secret, clients) => {
        const known = Object.fromEntries(clients) as Record<string, { secret?: string }>;
        const client = typeof id === "string" ? known[id] : undefined;
        if (client === undefined || client.secret !== secret) return undefined;
        return clients.get(String(id)) ?? [...clients.values()][0];
      },
    }),
    /without a secret/,
  ],
  [
    "tokensAreFresh",
    "gives one token for both purposes",
    (sound) => ({
      exchangeFields: (tokens, timestamp, expiresIn, context) => {
        const fields = sound.exchangeFields(tokens, timestamp, expiresIn, context);
        return { ...fields, refreshToken: fields["accessToken"] };
      },
    }),
    /is also the accessToken of exchange \d+/,
  ],
  [
    "accessTokenWorksAtOnce",
    "knows the tokens of its first client only",
    (sound) => ({
      findAccessToken: (presented, context) => {
        const record = sound.findAccessToken(presented, context);
        return record?.clientId === [...context.clients.keys()][0] ? record : undefined;
      },
    }),
    /over the same connection it got/,
  ],
  [
    "refusalsLeakNothing",
    "shows a refused client the latest live token",
    refusingWith(({ credentials }) => ({ hint: `try ${[...credentials.accessTokens.keys()].at(-1)}` })),
    /token/,
  ],
  [
    "refusalsLeakNothing",
    "repeats the request, the secret included",
    (sound) => ({
      readBody: (raw, context) => {
        Object.assign(context.from, { raw: raw.toString("utf8") });
        return sound.readBody(raw, context);
      },
      renderRefusal: (_refusal, { from }) =>
        page(200, `<p>cannot read ${String((from as { raw?: string }).raw)}</p>`),
    }),
    /the client's secret/,
  ],
  [
    "refusalsLeakNothing",
    "shows where an expired code was refused",
    (sound) => ({
      renderRefusal: (refusal, context) =>
        refusal.kind === "code-expired"
          ? page(500, "<pre>Error: expired<br> &nbsp; &nbsp;at take (/srv/app/codes.js:40:11)</pre>")
          : sound.renderRefusal(refusal, context),
    }),
    /a stack trace of Node\.js/,
  ],
  [
    "badBodiesAreRefused",
    "ignores what follows the object",
    reading((text) => JSON.parse(text.slice(0, text.indexOf("}") + 1))),
    /a brace too many/,
  ],
  [
    "badBodiesAreRefused",
    "takes whichever of two values fits",
    reading((text) => {
      const [plain, twice] = [
        JSON.parse(text) as Record<string, string>,
        [...text.matchAll(/"(\w+)":"([^"]*)"/g)],
      ];
      const shortest = (key: string): string =>
        twice
          .flatMap(([, name, value = ""]) => (name === key ? [value] : []))
          .toSorted((a, b) => a.length - b.length)[0] ?? "";
      return Object.fromEntries(
        Object.entries(plain).map(([key, value]) => [key, typeof value === "string" ? shortest(key) : value]),
      );
    }),
    /twice was granted with the right value first as well as last/,
  ],
  [
    "badBodiesAreRefused",
    "unpacks an envelope",
    reading((text) => {
      const value = JSON.parse(text) as Record<string, unknown>;
      return value["data"] ?? value;
    }),
    /one level down/,
  ],
  [
    "badBodiesAreRefused",
    "stops serving after a body of 15 kB",
    (sound) => {
      let stopped = false;
      return {
        readBody: (raw, context) => {
          stopped ||= raw.length > 15_000;
          return stopped ? undefined : sound.readBody(raw, context);
        },
      };
    },
    /a right exchange failed twice/,
  ],
  [
    "tokenAnswersAreNotStored",
    "forbids only that others store its answers",
    () => ({
      finish: (answer) => ({ ...answer, headers: { ...answer.headers, "cache-control": "private" } }),
    }),
    /Cache-Control: private/,
  ],
  [
    "tokensCannotBeGuessed",
    "makes the refresh token out of the access token",
    (sound) => ({
      exchangeFields: (tokens, timestamp, expiresIn, context) => {
        const fields = sound.exchangeFields(tokens, timestamp, expiresIn, context);
        return { ...fields, refreshToken: `r-${String(fields["accessToken"])}` };
      },
    }),
    /about 0/,
  ],
];

test.each(broken)("%s catches a service that %s", async (rule, _what, replaces, actual) => {
  const verdict = await judge(exchangeRules[rule], { behaviour: service(replaces) });
  expect(verdict).toMatchObject({
    kind: rule.startsWith("token") && rule !== "tokensAreFresh" ? "warned" : "failed",
    breach: { actual: expect.stringMatching(actual) as unknown },
  });
});

const right: readonly (readonly [what: string, replaces: Replaces])[] = [
  [
    "refuses with status 200 and fields that look like a token set",
    () => ({
      renderRefusal: () => ({
        status: 200,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          code: "40001",
          accessToken: "",
          refreshToken: null,
          message: "invalid_grant",
        }),
      }),
    }),
  ],
  [
    "uses a code up at the first refused attempt that names it",
    () => ({
      afterRefusedExchange: (record, _kind, { nowMs }) => {
        if (record !== undefined) record.usedAtMs ??= nowMs;
      },
    }),
  ],
  [
    "names each refusal by an id, and shows the code that was sent",
    (sound) => {
      const presented = new WeakMap<object, unknown>();
      return {
        findCode: (value, context) => {
          presented.set(context.from, value);
          return sound.findCode(value, context);
        },
        renderRefusal: (refusal, { from, random }) =>
          page(400, `<p>${refusal.kind} ${String(presented.get(from))} (${random.uuid()})</p>`),
      };
    },
  ],
  [
    "tells whole seconds, in an exchange alone",
    () => ({
      timestamp: ({ nowMs, operation }) => (operation === "exchange" ? Math.floor(nowMs / 1_000) : nowMs),
    }),
  ],
];

test.each(right)("no promise about exchanges is broken by a service that %s", async (_what, replaces) => {
  const results = await judgeAll(Object.values(exchangeRules), { behaviour: service(replaces) });
  expect(results.filter(({ verdict }) => !["passed", "observed", "warned"].includes(verdict.kind))).toEqual(
    [],
  );
});

test("the looks of refusals are the same in every run", async () => {
  const [one, other] = [
    await judge(exchangeRules.refusalsLookLike),
    await judge(exchangeRules.refusalsLookLike, { seed: 9 }),
  ];
  expect(one).toEqual(other);
  expect(one).toMatchObject({
    kind: "observed",
    fingerprint: expect.stringContaining(
      '"a used code":{"body":"json","fields":["error","message"],"status":400}',
    ) as unknown,
  });
});
