import { describe, objectOf } from "../world/exchange.ts";
import { fail, expectThat, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { tokenSetBreach, firstRepeated, issuedOnce } from "../judging/laws/tokens.ts";
import { observingLater, type HistoryVerdict, type Rules } from "../checks/rule.ts";
import { mapLimited } from "../checks/map-limited.ts";
import {
  exchangeBody,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  redeem,
  isShownData,
  type IssuedTokens,
} from "../world/steps.ts";
import { bitsToGuess } from "./shared/entropy.ts";
import { MANY } from "./shared/many.ts";
import { alsoAsUsual } from "./shared/usual.ts";
import type { Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";
import { badBodiesAreRefused, repeatedKeysHaveOneMeaning } from "./exchange-bodies.ts";
import { lateRefusalsOf, leaksNothing, lookOf, refusalsOf } from "./exchange-refusals.ts";
import { clientName, toldTimes } from "./told-time.ts";

export const exchangeRules = {
  "exchange.token-set": {
    check: (world, run) =>
      run.all([
        run.forEach(clientIndexes(world, run.cases()), setsAreWhole, {
          print: clientName(world),
          clients: "first",
        }),
        alsoAsUsual(run, (own, target) => setsAreWhole(own.client, own, target)),
      ]),
    waits: async (world, run) => {
      const told = await toldTimes(run, "exchange", clientsOf(world), {
        part: "the time told",
        print: clientName(world),
      });
      // Last, so that other rules have made most of their exchanges by then.
      return run.all([told, run.once(allSetsAreWhole, { part: "all exchanges of the run", replays: 0 })]);
    },
  },

  "exchange.tokens-are-fresh": (_world, run) => run.once((world) => noTokenTwice(world, run.cases(1, 8))),

  "exchange.access-token-works": (world, run) =>
    run.forEach(clientIndexes(world, run.cases(0.5, 4)), tokenOpensAtOnce, {
      print: clientName(world),
      clients: "first",
    }),

  "exchange.refusal-leaks-nothing": {
    check: (world, run) =>
      run.forEach(Object.entries(refusalsOf(world)), leaksNothing, { print: ([name]) => name }),
    waits: async (world, run) => {
      const late = Object.entries(lateRefusalsOf(world));
      return late.length === 0 ? undefined : run.forEach(late, leaksNothing, { print: ([name]) => name });
    },
  },

  "exchange.bad-bodies": (_world, run) =>
    run.all([badBodiesAreRefused(run), repeatedKeysHaveOneMeaning(run)]),

  "exchange.errors": observingLater(async (world) =>
    Object.fromEntries(
      await mapLimited(
        Object.entries({ ...refusalsOf(world), ...lateRefusalsOf(world) }),
        3,
        async ([name, provoke]) => [name, lookOf((await provoke(world, () => Promise.resolve())).answer)],
      ),
    ),
  ),

  "exchange.no-store": (_world, run) => run.forEach(["exchange", "refresh"] as const, forbidsStoring),

  "exchange.token-entropy": (_world, run) => run.once((world) => tokensHoldBits(world, run.cases(1, 24))),
} satisfies Rules;

/** The clients of the run alternately, because a service may treat one of them wrongly. */
const clientIndexes = (world: World, count: number): readonly Client[] => {
  const clients = clientsOf(world);
  return Array.from(
    { length: Math.max(count, clients.length) },
    (_, at) => clients[at % clients.length] as Client,
  );
};

const setsAreWhole = async (client: Client, world: World, target = world.target): Promise<CaseVerdict> => {
  const { code } = await obtainCode(world, { client });
  const answer = await target.exchange(exchangeBody(client, code));
  return verdictOf(tokenSetBreach("exchange", objectOf(answer)), () => `it got ${describe(answer)}`);
};

/** Judges every valid exchange of the run until now, in whatever rule, and many more: a few may get something else. */
const allSetsAreWhole = async (world: World): Promise<HistoryVerdict> => {
  const clients = clientIndexes(world, MANY);
  await mapLimited(clients, 6, (client) => obtainTokens(world, { client }));
  const wrong = world.evidence.malformedTokenSets;
  const [first] = wrong;
  const verdict =
    first === undefined
      ? pass
      : fail(
          first.expected,
          `${wrong.length} of the run's exchanges got something else, the first one: ${first.actual}`,
        );
  return { ...verdict, cases: clients.length };
};

const noTokenTwice = async (world: World, count: number): Promise<HistoryVerdict> => {
  const sets: IssuedTokens[] = [];
  const failures: unknown[] = [];
  // A service that issues duplicates may refuse what it issued before; everything issued still counts.
  const take = async (obtained: Promise<IssuedTokens>): Promise<void> => {
    await obtained.then(
      (set) => void sets.push(set),
      (error: unknown) => void failures.push(error),
    );
  };
  for (const client of clientIndexes(world, count)) await take(obtainTokens(world, { client }));
  // Concurrent exchanges of codes issued beforehand, so that the exchanges themselves coincide.
  const codes = await Promise.all(clientIndexes(world, count).map((client) => obtainCode(world, { client })));
  await Promise.all(codes.map(({ code, client }) => take(redeem(world, code, { client }))));
  const tokens = sets.flatMap((set) =>
    (["accessToken", "refreshToken"] as const).map((kind) => ({ kind, token: set[kind], set })),
  );
  const repeated = firstRepeated(tokens, ({ token }) => token);
  if (repeated !== undefined) {
    const [earlier, later] = repeated.map(({ kind, set }) => ({ kind, n: set.answer.exchange }));
    return {
      ...fail(
        issuedOnce.token,
        `the ${later?.kind} of exchange ${later?.n} is also the ${earlier?.kind} of exchange ${earlier?.n}`,
        repeated.map(({ set }) => set.answer.exchange),
      ),
      cases: sets.length,
    };
  }
  if (failures.length > 0) throw failures[0];
  return { ...pass, cases: sets.length };
};

const tokenOpensAtOnce = async (client: Client, world: World): Promise<CaseVerdict> => {
  const [own, other] = [world.target.dedicated(), world.target.dedicated()];
  try {
    const { code } = await obtainCode(world, { client });
    const { accessToken } = await redeem(world, code, { client, target: own });
    for (const [where, target] of [
      ["the same", own],
      ["another", other],
    ] as const) {
      const answer = await target.list({ accessToken, query: { limit: 1 } });
      if (!(await isShownData(world, answer)))
        return fail(
          "the accessToken of an exchange opens the notification list at once",
          `over ${where} connection it got ${describe(answer)}`,
        );
    }
    return pass;
  } finally {
    await Promise.all([own.close(), other.close()]);
  }
};

/** Cache-Control directives, in lower case (RFC 9111 section 5.2). */
const forbidsStoring = async (endpoint: "exchange" | "refresh", world: World): Promise<CaseVerdict> => {
  const tokens = await obtainTokens(world);
  const { answer } = endpoint === "exchange" ? tokens : await obtainRefreshed(world, tokens);
  const directives = answer.headers
    .filter(([name]) => name === "cache-control")
    .flatMap(([, value]) =>
      value
        .toLowerCase()
        .split(",")
        .map((one) => one.trim()),
    );
  return expectThat(
    directives.includes("no-store"),
    "an answer that carries tokens forbids caching (Cache-Control: no-store)",
    `the answer to a valid ${endpoint} has ${directives.length === 0 ? "no Cache-Control" : `Cache-Control: ${directives.join(", ")}`}`,
  );
};

const BITS = 128;

const tokensHoldBits = async (world: World, count: number): Promise<HistoryVerdict> => {
  const codes = await mapLimited(Array.from({ length: count }), 6, () => obtainCode(world));
  const access: string[] = [];
  const refresh: string[] = [];
  // One after another, so that the sample is in order of issue.
  for (const { code } of codes) {
    const tokens = await redeem(world, code);
    access.push(tokens.accessToken);
    refresh.push(tokens.refreshToken);
  }
  const facts = {
    accessTokenBits: bitsToGuess(access),
    refreshTokenBits: bitsToGuess(refresh),
    refreshTokenBitsKnowingTheAccessToken: bitsToGuess(refresh, access),
    accessTokenBitsKnowingTheRefreshToken: bitsToGuess(access, refresh),
  };
  const poorest = Math.min(...Object.values(facts));
  const judgement = expectThat(
    poorest >= BITS,
    `a token holds at least ${BITS} random bits`,
    `${count} token sets in order of issue show only about ${poorest}`,
  );
  return { ...judgement, cases: count, facts };
};
