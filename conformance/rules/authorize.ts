import { describe, grantOf, plainOf, type Answer } from "../world/exchange.ts";
import { confusedWith, tellingStates, validStates } from "../arbitraries/state.ts";
import { guessability } from "./shared/entropy.ts";
import { allHold, fail, expectThat, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { strayLocation } from "./shared/redirects.ts";
import { alsoAsUsual } from "./shared/usual.ts";
import type { Rules, HistoryVerdict } from "../checks/rule.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { echoBreach, grantBreach } from "../judging/laws/grant.ts";
import { firstRepeated, issuedOnce } from "../judging/laws/tokens.ts";
import { obtainCode, redeem, yieldedCode, type IssuedCode, timed } from "../world/steps.ts";
import { encodeQuery, type Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";
import { redirectRules } from "./authorize-redirect.ts";
import { stateRules } from "./authorize-state.ts";
import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import { duration, SECOND_MS } from "../contract/duration.ts";
import { timestampOf, toldTimes } from "./told-time.ts";

/** Milliseconds in 32 bits, with or without a sign, start over after this time. */
const WRAP_MS = 2 ** 32;
/** Real seconds are expensive and virtual ones are free, so a virtual clock is watched for longer. */
const pausesMs = { real: [3_000], virtual: [7_000, 100_000, 93_600_000, WRAP_MS] } as const;
/** Section 4.1: obtaining an authorization code. */
export const authorizeRules = {
  "authorize.answers-with-code": (world, run) =>
    run.all([
      run.forEach(
        clientsOf(world),
        (client, caseWorld) => judgeGrant(caseWorld, client, caseWorld.target.unique()),
        { part: "each client", print: ({ id }) => `client ${id}`, clients: "first" },
      ),
      alsoAsUsual(run, (own, target) => judgeGrant({ ...own, target }, own.client, own.target.unique())),
      run.forAll(
        validStates(world.limits.stateMaxBytes),
        (state, caseWorld) => judgeGrant(caseWorld, caseWorld.client, state),
        { part: "generated" },
      ),
      run.forEach(
        ["redirectUri, state, clientId"],
        (_order, caseWorld) => {
          const { client } = caseWorld;
          const state = caseWorld.target.unique();
          const rawQuery = encodeQuery({ redirectUri: client.redirectUri, state, clientId: client.id });
          return judgeGrant(caseWorld, client, state, { rawQuery });
        },
        { part: "parameters in another order", print: (order) => order },
      ),
    ]),

  "authorize.echoes-state": (world, run) =>
    run.all([
      run.forEach(tellingStates(world.limits.stateMaxBytes), (state, caseWorld) => echoes(caseWorld, state), {
        part: "telling",
      }),
      run.forAll(validStates(world.limits.stateMaxBytes), (state, caseWorld) => echoes(caseWorld, state), {
        part: "generated",
      }),
      run.once(
        async (caseWorld) => {
          const state = caseWorld.target.unique();
          const similar = [state, ...confusedWith(state)];
          const judgements = await Array.fromAsync(similar, (one) => echoes(caseWorld, one));
          return { ...allHold(judgements), cases: similar.length };
        },
        { part: "one after a similar one" },
      ),
      run.once(
        async (caseWorld) => {
          const states = Array.from({ length: run.cases(1, 8) }, () => caseWorld.target.unique());
          const judgements = await Promise.all(states.map((state) => echoes(caseWorld, state)));
          return { ...allHold(judgements), cases: states.length };
        },
        { part: "at once" },
      ),
      alsoAsUsual(run, (own, target) => echoes({ ...own, target }, own.target.unique())),
    ]),

  "authorize.code-is-fresh": (world, run) =>
    run.once(async (caseWorld) => {
      const rounds = run.cases(1, 6);
      const state = caseWorld.target.unique();
      const issued: IssuedCode[] = [];
      const authorize = async (client: Client, ownState = state): Promise<void> => {
        issued.push(await obtainCode(caseWorld, { client, authorize: { state: ownState } }));
      };
      const repeated = (): readonly [IssuedCode, IssuedCode] | undefined =>
        firstRepeated(issued, ({ code }) => code);
      for (const client of clientsOf(world)) {
        for (let round = 0; round < rounds; round += 1) await authorize(client);
        await Promise.all(Array.from({ length: 2 * rounds }, () => authorize(client)));
        await Promise.all(
          Array.from({ length: 2 * rounds }, () => authorize(client, caseWorld.target.unique())),
        );
        await authorize(client);
        // Before any is used: a code issued twice may be refused when used, which would look like a failing control.
        if (repeated() !== undefined) break;
        await redeem(caseWorld, issued.at(-1)?.code ?? "", { client });
        await authorize(client);
      }
      const pair = repeated();
      return { ...(pair === undefined ? pass : sameCode(pair, issued)), cases: issued.length };
    }),

  "authorize.code-entropy": (_world, run) =>
    run.once(async (world) => {
      const codes: string[] = [];
      const wanted = Math.min(400, run.cases(8, 64));
      while (codes.length < wanted) codes.push((await obtainCode(world)).code);
      const found = guessability(codes);
      const weaknesses = [
        ...(found.bits < LEAST_BITS ? [`they hold only ${found.bits} random bits`] : []),
        ...(found.monotone ? ["each follows the previous one in order"] : []),
        ...(isWeakPrefix(codes[0] ?? "", found.sharedPrefix)
          ? [`all start with the same ${found.sharedPrefix} characters`]
          : []),
      ];
      return {
        ...expectThat(
          weaknesses.length === 0,
          `codes hold at least ${LEAST_BITS} random bits, follow no order and share no prefix`,
          weaknesses.join("; "),
        ),
        cases: codes.length,
        facts: { ...found },
      };
    }),

  "authorize.timestamp": {
    waitsMs: () => pausesMs.real[0],
    waits: async (world, run) => {
      let isBareRedirect = false;
      const moves = run.once(
        async (world) => {
          const { answer, grant } = await obtainCode(world);
          isBareRedirect = grant.via === "redirect" && timestampOf(answer) === undefined;
          return isBareRedirect ? pass : judgeTimestamps(world);
        },
        { replays: 1 },
      );
      const told = toldTimes(run, "authorize", clientsOf(world), {
        part: "beside other timestamps",
        print: ({ id }) => `client ${id}`,
      });
      const verdict = await run.all([moves, told]);
      if (!isBareRedirect) return verdict;
      return {
        kind: "not-applicable",
        by: "service",
        reason: "the service answers with a redirect, and the redirect carries no timestamp",
      };
    },
  },
  ...stateRules,
  ...redirectRules,
} satisfies Rules;

/** Two authorizations that got the same code, by their exchanges. */
const sameCode = (
  [earlier, later]: readonly [IssuedCode, IssuedCode],
  all: readonly IssuedCode[],
): CaseVerdict => {
  const repeated = all.length - new Set(all.map(({ code }) => code)).size;
  return fail(
    issuedOnce.code,
    `exchange ${later.answer.exchange} was answered with the code of exchange ${earlier.answer.exchange}; of ${all.length} codes ${repeated} had been issued before`,
    [earlier.answer.exchange, later.answer.exchange],
  );
};

/** RFC 6749 section 10.10: the probability of guessing right is at most 2^-128. */
const LEAST_BITS = 128;
const LONGEST_LABEL = 6;

/**
 * Whether the prefix shared by all codes is a weakness. A label such as "ac_live_" is not, nor are the header and
 * claims of a signed code, which dots separate from its signature.
 */
const isWeakPrefix = (code: string, length: number): boolean =>
  length > LONGEST_LABEL &&
  !/^[\w+/=-]+(\.[\w+/=-]+)+$/.test(code) &&
  !/[_.:~-]$/.test(code.slice(0, length));

/**
 * A grant is complete: code, state and timestamp are there, a redirect leads to the right address, and the code works.
 */
const judgeGrant = async (
  world: World,
  client: Client,
  state: string,
  written: { readonly rawQuery?: string } = {},
): Promise<CaseVerdict> => {
  const answer = await world.target.authorize({ client, state, ...written });
  const breach = grantBreach(plainOf(answer)) ?? echoBreach(grantOf(answer), state);
  if (breach !== undefined) return verdictOf(breach, () => `it got ${describe(answer)}`);
  const stray = strayLocation(answer, client.redirectUri);
  if (stray !== undefined) return fail(`a redirect leads to ${client.redirectUri}`, `it led to ${stray}`);
  return expectThat(
    await yieldedCode(world, answer, client),
    "the code can be exchanged for tokens that work",
    `the code in this answer could not: ${describe(answer)}`,
  );
};

const echoes = async (world: World, state: string): Promise<CaseVerdict> => {
  const answer = await world.target.authorize({ state });
  return verdictOf(echoBreach(grantOf(answer), state), () => `it got ${describe(answer)}`);
};

/** The clocks of a service's machines may differ by about a second, and its clock and ours may drift. */
const APART_MS = 1_050;
const LOOKS = 6;

const ticksPerSecond = { seconds: 1, milliseconds: 1e3, microseconds: 1e6, nanoseconds: 1e9 } as const;

interface Look {
  readonly timestamp: number;
  readonly at: TimeInterval;
}

/** On one connection, since several are answered by different machines more often than one. */
const judgeTimestamps = async (world: World): Promise<HistoryVerdict> => {
  const target = world.target.dedicated();
  try {
    return judgeLooks(await looksAt({ ...world, target }));
  } finally {
    await target.close();
  }
};

/** Looks at the timestamp some times in a row, and again after each pause. */
const looksAt = async (world: World): Promise<readonly Look[] | Answer> => {
  const looks: Look[] = [];
  for (const pauseMs of [0, ...pausesMs[world.clock.kind]]) {
    if (pauseMs > 0) await world.clock.sleep(pauseMs, pauseMs);
    for (let n = 0; n < LOOKS; n += 1) {
      const { value, at } = await timed(world, () => obtainCode(world));
      const timestamp = timestampOf(value.answer);
      if (timestamp === undefined) return value.answer;
      looks.push({ timestamp, at });
    }
  }
  return looks;
};

/** Judges the looks in the order in which they were made, or the answer that carried no timestamp. */
export const judgeLooks = (looks: readonly Look[] | Answer): HistoryVerdict => {
  if ("status" in looks) return fail("the answer carries a numeric timestamp", describe(looks));
  const backwards = pairs(looks).find(([before, after]) => after.timestamp < before.timestamp);
  const left = Object.entries(ticksPerSecond).flatMap(([unit, ticks]) =>
    areInStep(looks, ticks) ? [unit] : [],
  );
  // A balancer may spread the requests of one connection over machines whose clocks differ a little.
  if (left.length > 0)
    return {
      ...pass,
      cases: looks.length,
      facts: { readings: left, ...(backwards === undefined ? {} : { stepsBack: stepText(backwards) }) },
    };
  return {
    ...(backwards === undefined
      ? fail(
          "timestamps move with the clock, in seconds, milliseconds, microseconds or nanoseconds",
          steps(looks)
            .map(([elapsedMs, moved]) => `while ${duration(elapsedMs)} passed they moved by ${moved}`)
            .join("; "),
        )
      : fail("no later answer carries an earlier time", stepText(backwards))),
    cases: looks.length,
    facts: { readings: left },
  };
};

const stepText = ([before, after]: readonly [Look, Look]): string =>
  `${before.timestamp} was followed by ${after.timestamp}`;

/** Whether timestamps that count so many ticks per second differ from the first by the time that passed since. */
const areInStep = (looks: readonly Look[], perSecond: number): boolean => {
  const isWhole = looks.every(({ timestamp }) => timestamp % perSecond === 0);
  // Whole seconds may cost a second more than the clocks are apart, whichever way they round.
  const toleranceMs = APART_MS + (isWhole ? SECOND_MS : 0);
  return looks.every((later) => {
    const first = looks[0] ?? later;
    const movedMs = ((later.timestamp - first.timestamp) / perSecond) * SECOND_MS;
    const { leastMs, greatestMs } = ageBetween(first.at, later.at);
    return movedMs >= leastMs - toleranceMs && movedMs <= greatestMs + toleranceMs;
  });
};

const steps = (looks: readonly Look[]): readonly (readonly [elapsedMs: number, moved: number])[] =>
  pairs(looks.filter((_, index) => index % LOOKS === 0)).map(([before, after]) => [
    ageBetween(before.at, after.at).leastMs,
    after.timestamp - before.timestamp,
  ]);

const pairs = <T>(values: readonly T[]): readonly (readonly [T, T])[] =>
  values.slice(1).map((value, index) => [values[index] ?? value, value] as const);
