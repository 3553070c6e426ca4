import fc from "fast-check";
import type { Run } from "../checks/rule.ts";
import { duration } from "../contract/duration.ts";
import { controlFailure, freshCodeWorks } from "../world/controls.ts";
import { credentialsOf, describe, unlessUndecided, type Answer } from "../world/exchange.ts";
import { attemptWrongly } from "./shared/attempts.ts";
import { manyTimes } from "./shared/many.ts";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { notedFrom } from "../world/noted.ts";
import {
  exchangeBody,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  refreshBody,
  yielded,
  type IssuedCode,
} from "../world/steps.ts";
import { answerOrHangUp, type Client, type Target } from "../world/target.ts";
import type { World } from "../world/world.ts";

export type ReuseEvent = keyof typeof happenings | { readonly pauseMs: number };

/** A code after its first exchange. */
interface UsedCode {
  readonly issued: IssuedCode;
  readonly refreshToken: string;
  /** The connection of the first exchange. */
  readonly first: Omit<Target, "dedicated">;
  /** Whether it was presented again, after which its tokens may be revoked. */
  presented: boolean;
  /** The numbers of the exchanges that may matter to what becomes of it: all but those that tried a token. */
  readonly history: number[];
}

type Happening = (world: World, used: UsedCode) => Promise<Answer | undefined>;

const nothing = async (step: Promise<unknown>): Promise<undefined> => void (await step);

/** More exchanges than a service would remember. A few of so many may get no answer, which changes nothing. */
const exchangeMany = async (world: World, client: Client): Promise<void> => {
  const noted = notedFrom(world);
  await manyTimes(() => unlessUndecided(obtainTokens(world, { client }), undefined));
  for (const exchange of noted()) world.evidence.ignoreLoss(exchange);
};

/** Further attempts return their answer for judging; everything else returns nothing. */
const happenings = {
  again: (_world, { issued, first }) => first.exchange(exchangeBody(issued.client, issued.code)),
  "again over another connection": (world, { issued }) =>
    world.target.exchange(exchangeBody(issued.client, issued.code)),
  "again, fields in another order": (world, { issued: { client, code } }) =>
    world.target.exchange({ code, clientSecret: client.secret, clientId: client.id }),
  "again, with white space": (world, { issued: { client, code } }) =>
    world.target.exchange(exchangeBody(client, ` ${code}\n`)),
  "again, in an array": (world, { issued: { client, code } }) =>
    world.target.exchange(exchangeBody(client, [code])),
  "again, case flipped": (world, { issued: { client, code } }) =>
    world.target.exchange(
      exchangeBody(client, code === code.toLowerCase() ? code.toUpperCase() : code.toLowerCase()),
    ),
  "again by another client": (world, { issued }) => attemptWrongly(world, "another client", issued),
  "again with a wrong secret": (world, { issued }) => attemptWrongly(world, "a wrong secret", issued),
  "again by an unknown client": (world, { issued }) => attemptWrongly(world, "an unknown client", issued),
  refresh: (world, used) =>
    nothing(
      used.presented
        ? world.target.refresh(refreshBody(used.issued.client, used.refreshToken))
        : obtainRefreshed(world, { client: used.issued.client, refreshToken: used.refreshToken }),
    ),
  "another authorization": (world, { issued: { client, grant } }) =>
    nothing(
      world.target.authorize({
        client,
        state: typeof grant.state === "string" ? grant.state : undefined,
      }),
    ),
  "another code is exchanged": (world, { issued }) => nothing(obtainTokens(world, { client: issued.client })),
  "many other codes are exchanged": (world, { issued }) => nothing(exchangeMany(world, issued.client)),
  "another client exchanges a code": (world) => nothing(obtainTokens(world, { client: world.secondClient })),
} as const satisfies Record<string, Happening>;

/** Histories judged in every run. Each ends with an attempt on the first connection and one on another. */
export const usedUpHistories = (world: World): readonly (readonly ReuseEvent[])[] => [
  [],
  ["again", "again", "again over another connection", "again"],
  Array.from({ length: 10 }, () => "again" as const),
  ["again over another connection"],
  ["refresh"],
  ["refresh", "refresh"],
  ["another authorization"],
  ["another code is exchanged"],
  ["many other codes are exchanged"],
  ["another client exchanges a code"],
  ["again with a wrong secret"],
  ["again by an unknown client"],
  ["again, fields in another order"],
  ["again, with white space"],
  ["again, in an array"],
  ["again, case flipped"],
  ...(world.secondClient === undefined ? [] : [["again by another client"] as const]),
];

/** The longest pause that is always made; longer ones only if the clock allows. */
export const SHORT_PAUSE_MS = 2_000;

/** Pauses between the first and the second attempt: typical expiry times of caches, and random ones. */
export const pauses = (world: World, run: Run): readonly number[] => {
  const lifetimeMs = world.limits.codeLifetimeMs;
  const drawn = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), {
    seed: run.seed,
    numRuns: run.cases(0.16, 2),
  });
  return [
    SHORT_PAUSE_MS,
    6_000,
    31_000,
    61_000,
    lifetimeMs / 2,
    lifetimeMs - SHORT_PAUSE_MS,
    // When codes that expire are probed.
    lifetimeMs + world.tolerances.lifetimeGuardMs,
    ...drawn.map((part) => Math.round(1_000 * (lifetimeMs / 1_000) ** part)),
    ...(world.clock.kind === "virtual"
      ? [
          lifetimeMs * 7,
          world.prepared.accessLifetimeMs + 1_000,
          world.limits.refreshTokenLifetimeMs + 60_000,
        ]
      : []),
  ].filter((pauseMs) => pauseMs <= SHORT_PAUSE_MS || world.clock.canWait(pauseMs));
};

export const printEvents = (events: readonly ReuseEvent[]): string =>
  [
    "exchanged",
    ...events.map((event) => (typeof event === "object" ? `after ${duration(event.pauseMs)}` : event)),
    "again",
    "again over another connection",
  ].join("; ");

/** Exchanges a fresh code, plays these events, and judges that every later attempt is refused, including two more at the end. */
export const reuseIsRefused = async (events: readonly ReuseEvent[], world: World): Promise<CaseVerdict> => {
  const first = world.target.dedicated();
  try {
    const issued = await obtainCode(world);
    const answer = await first.exchange(exchangeBody(issued.client, issued.code));
    const { refreshToken } = credentialsOf(answer);
    if ((await yielded(world, answer)) === undefined || refreshToken === undefined) {
      const isNever = (await controlFailure(freshCodeWorks(world, issued))) !== undefined;
      const why = isNever
        ? ""
        : `, while a later code was exchanged; this case only authorized and exchanged, so other requests that this run sent for ${issued.client.id} invalidated the code`;
      return fail("the first exchange of a code succeeds", `it got ${describe(answer)}${why}`, [
        answer.exchange,
      ]);
    }
    return await attemptLater(world, events, {
      issued,
      refreshToken,
      first,
      presented: false,
      history: [answer.exchange],
    });
  } finally {
    await first.close();
  }
};

/** How much later an attempt may come than after its pause, as a factor of that. */
const LATER = 5;

/** How much later it may come, as a share of the time until the code's end. */
const LATER_SHARE = 3 / 4;

/** How much later an attempt at the end of a code or after it may come, in milliseconds. */
const PAST_MS = 10_000;

const attemptLater = async (
  world: World,
  events: readonly ReuseEvent[],
  used: UsedCode,
): Promise<CaseVerdict> => {
  let attempts = 1;
  for (const event of [...events, "again", "again over another connection"] as const) {
    if (typeof event === "object") {
      const leftMs = world.limits.codeLifetimeMs - event.pauseMs;
      const slackMs = leftMs > 0 ? leftMs * LATER_SHARE : Math.max(-leftMs, PAST_MS);
      await world.clock.sleep(event.pauseMs, Math.min(LATER * event.pauseMs, slackMs));
      continue;
    }
    const attempt = event.startsWith("again");
    const noted = notedFrom(world);
    const answer = attempt
      ? await answerOrHangUp(happenings[event](world, used) as Promise<Answer>)
      : await happenings[event](world, used);
    used.history.push(...noted());
    if (!attempt) continue;
    used.presented = true;
    attempts += 1;
    const gain = await yielded(world, answer, used.issued.client);
    if (gain !== undefined)
      return fail(
        "a code that has been exchanged is refused from then on",
        `attempt ${attempts} (${event}) yielded a working ${gain}`,
        [...used.history, ...noted()],
      );
  }
  return pass;
};
