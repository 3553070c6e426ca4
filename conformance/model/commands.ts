import { cutFrom, datedBackFrom, guardFor, guardOn } from "../judging/lifetimes/probe.ts";
import { credentialsOf, describe, grantOf } from "../world/exchange.ts";
import { exchangeBody, isShownData, refreshBody, yielded } from "../world/steps.ts";
import {
  clientOf,
  command,
  compare,
  Disagreement,
  during,
  pickFrom,
  type Command,
  type Real,
  sleep,
} from "./command.ts";
import {
  ofExchange,
  ofList,
  ofRefresh,
  type AccessState,
  type CodeState,
  type GrantState,
  type Model,
  codeIssued,
  codeUsed,
  exchangeRefused,
  refreshed,
  type GivenTokens,
} from "./states.ts";
import { duration } from "../contract/duration.ts";

/** How many credentials of a kind are tried at once, latest first. */
const MOST_TRIED = 5;

/** A new code (section 4.1). */
export const authorize = (client: number): Command =>
  command(
    `authorize for client ${client + 1}`,
    () => true,
    async (model, real) => void (await authorizeRightly(model, real, client)),
  );

/** The whole flow (section 5.1): concurrent grants are what deep histories need most. */
export const logIn = (client: number): Command =>
  command(
    `authorize for client ${client + 1} and exchange the code`,
    () => true,
    async (model, real) => exchangeRightly(model, real, await authorizeRightly(model, real, client)),
  );

/** The same with a state that the history sends again and again. It tells a callback's origin, and names no session. */
export const logInWithSharedState = (client: number): Command =>
  command(
    `authorize for client ${client + 1} with a state used before, and exchange the code`,
    () => true,
    async (model, real) =>
      exchangeRightly(model, real, await authorizeRightly(model, real, client, real.sharedState)),
  );

const authorizeRightly = async (
  model: Model,
  real: Real,
  client: number,
  state?: string,
): Promise<CodeState> => {
  const { value: answer, at } = await during(model, real, () =>
    real.world.target.authorize({
      client: clientOf(real, client),
      ...(state === undefined ? {} : { state }),
    }),
  );
  const code = grantOf(answer)?.code;
  // A service may accept each state only once.
  if (code === undefined && state !== undefined) return authorizeRightly(model, real, client);
  model.otherDecisions += 1;
  if (code === undefined)
    throw new Disagreement("a valid authorization yields a code", `it was refused: ${describe(answer)}`);
  if (model.codes.some(({ value }) => value === code))
    throw new Disagreement("each authorization yields its own code", "an earlier code came again");
  return codeIssued(model, code, client, at);
};

/**
 * An exchange of a known code by its own client (section 4.2): an already used one, or an unused one, fresh or expired.
 * These are chosen separately, because after a used code is presented again nothing is expected of its tokens.
 */
export const exchange = (pick: number, which: "unused" | "used", secret: "right" | "wrong"): Command => {
  const candidates = (model: Model): CodeState[] =>
    model.codes.filter(({ used }) => used === (which === "used"));
  return command(
    `exchange ${which} code ${pick} with the ${secret} secret`,
    (model) => candidates(model).length > 0,
    async (model, real) => {
      const code = pickFrom(model, candidates(model), pick);
      await (secret === "right" ? exchangeRightly : exchangeWrongly)(model, real, code);
    },
  );
};

const exchangeRightly = async (model: Model, real: Real, code: CodeState): Promise<void> => {
  const { value: answer, at } = await during(model, real, () =>
    real.world.target.exchange(exchangeBody(clientOf(real, code.client), code.value)),
  );
  const expectation = ofExchange(model, code, at);
  const { accessToken, refreshToken, expiresIn } = credentialsOf(answer);
  // A field with that name need not be a token; if none is expected, it counts only if it works.
  const came =
    expectation.outcome === "yield"
      ? accessToken !== undefined && refreshToken !== undefined
      : (await yielded(real.world, answer, clientOf(real, code.client))) !== undefined;
  compare(model, expectation, came, "the exchange of a code", answer);
  if (!came || accessToken === undefined || refreshToken === undefined) exchangeRefused(code);
  else codeUsed(model, code, { accessToken, refreshToken, ...lifeOf(real, expiresIn) }, at);
};

const exchangeWrongly = async (model: Model, real: Real, code: CodeState): Promise<void> => {
  const client = clientOf(real, code.client);
  const body = { ...exchangeBody(client, code.value), clientSecret: real.world.target.unique() };
  const { value: answer } = await during(model, real, () => real.world.target.exchange(body));
  model.otherDecisions += 1;
  if ((await yielded(real.world, answer, client)) !== undefined)
    throw new Disagreement("an exchange with a wrong secret is refused", `it succeeded: ${describe(answer)}`);
  exchangeRefused(code);
};

/** A refresh by its own client with a known refresh token, valid or not (section 4.3). */
export const refresh = (pick: number): Command =>
  command(
    `refresh with refresh token ${pick}`,
    (model) => model.grants.length > 0,
    (model, real) => refreshRightly(model, real, pickFrom(model, model.grants, pick)),
  );

const refreshRightly = async (model: Model, real: Real, grant: GrantState): Promise<void> => {
  const client = clientOf(real, grant.client);
  const { value: answer, at } = await during(model, real, () =>
    real.world.target.refresh(refreshBody(client, grant.refreshToken)),
  );
  const expectation = ofRefresh(model, grant, at);
  const { accessToken, expiresIn } = credentialsOf(answer);
  const came =
    expectation.outcome === "yield"
      ? accessToken !== undefined
      : (await yielded(real.world, answer, client)) !== undefined;
  compare(model, expectation, came, "a refresh", answer);
  if (came && accessToken !== undefined)
    refreshed(model, grant, { accessToken, ...lifeOf(real, expiresIn) }, at);
};

/** A list request with a known access token, live or dead (section 4.4). */
export const list = (pick: number): Command =>
  command(
    `list with access token ${pick}`,
    (model) => model.accesses.length > 0,
    (model, real) => listWith(model, real, pickFrom(model, model.accesses, pick)),
  );

const listWith = async (model: Model, real: Real, access: AccessState): Promise<void> => {
  const { value: answer, at } = await during(model, real, () =>
    real.world.target.list({ accessToken: access.value, query: { limit: 1 } }),
  );
  const came = await isShownData(real.world, answer);
  compare(model, ofList(model, access, at), came, "listing with an access token", answer);
};

/**
 * Tries what the history has: each of the latest access tokens, each refresh token, then the access tokens again. This
 * reveals what one step did to the others.
 */
export const tryAll = (): Command =>
  command(
    "try every token",
    (model) => model.accesses.length > 0,
    async (model, real) => {
      const accesses = model.accesses.slice(-MOST_TRIED);
      for (const access of accesses) await listWith(model, real, access);
      for (const grant of model.grants.slice(-MOST_TRIED)) await refreshRightly(model, real, grant);
      for (const access of accesses) await listWith(model, real, access);
    },
  );

/** Presents every code of the history, used or not. */
export const presentAll = (): Command =>
  command(
    "exchange every code",
    (model) => model.codes.length > 0,
    async (model, real) => {
      for (const code of model.codes.slice(-MOST_TRIED)) await exchangeRightly(model, real, code);
    },
  );

const lifeOf = ({ world }: Real, expiresIn: unknown): Pick<GivenTokens, "lifetimeMs" | "cutMs"> => {
  const lifetimeMs = typeof expiresIn === "number" ? expiresIn * 1_000 : Number.NaN;
  return { lifetimeMs, cutMs: cutFrom(lifetimeMs, world.clock.runs()) };
};

type Kind = "code" | "refresh token" | "access token";

/** Time for a request to arrive before the end of a lifetime, in milliseconds. */
const TRAVEL_MS = 400;

/** How far from that distance to an end such a wait may end, as a share of the lifetime; and right before one, where it is short. */
const PART_OF_LIFE = 1 / 2;
const SMALL_PART_OF_LIFE = 1 / 32;
const MOST_RIGHT_BEFORE_MS = 300_000;

/**
 * How much farther from an end such a wait may end, so that histories wake together: never on its other side. Lifetimes
 * themselves are judged more exactly by rules of their own.
 */
const slackOf = (side: "before" | "after", distanceMs: number, lifetimeMs: number): number =>
  side === "before" && distanceMs === 0
    ? Math.min(lifetimeMs * SMALL_PART_OF_LIFE, MOST_RIGHT_BEFORE_MS)
    : Math.max(distanceMs, lifetimeMs * PART_OF_LIFE);

/** A wait in which time only has to pass may last so many times longer: lifetimes are orders of magnitude apart. */
const LATER = 32;

/** Some time passes, whatever expires meanwhile. */
export const wait = (waitMs: number): Command =>
  command(
    `wait ${duration(waitMs)}`,
    (model) => waitMs <= model.leftToWaitMs,
    (model, real) => sleep(model, real, waitMs, LATER * waitMs),
  );

/** Time passes until right before or after the end of a credential, which the next command finds in front. */
export const waitForEnd = (kind: Kind, pick: number, side: "before" | "after", distanceMs: number): Command =>
  command(
    `wait until ${distanceMs === 0 ? "just" : `at least ${duration(distanceMs)}`} ${side} ${kind} ${pick} expires`,
    (model) => expiringOf(model, kind).length > 0,
    async (model, real) => {
      const expiring = pickFrom(model, expiringOf(model, kind), pick);
      const { issued, lifetimeMs, cutMs } = expiring;
      const datedBackMs = datedBackFrom(issued, model.clock);
      const ends = { guardMs: guardFor(lifetimeMs, model.guardMs), cutMs, datedBackMs };
      const slackMs = slackOf(side, distanceMs, lifetimeMs);
      const waitMs =
        side === "before"
          ? lifetimeMs -
            guardOn("alive", ends) -
            TRAVEL_MS -
            distanceMs -
            slackMs -
            (model.now.latestMs - issued.earliestMs)
          : lifetimeMs + guardOn("dead", ends) + distanceMs - (model.now.earliestMs - issued.latestMs);
      // Skips a lifetime that is not a number, is over, or exceeds what the history may wait.
      if (!(waitMs <= model.leftToWaitMs)) return;
      model.focus = expiring;
      if (waitMs > 0) await sleep(model, real, waitMs, slackMs, side === "before");
    },
  );

const expiringOf = (
  model: Model,
  kind: Kind,
): readonly (Model["codes"] | Model["grants"] | Model["accesses"])[number][] =>
  kind === "code" ? model.codes : kind === "refresh token" ? model.grants : model.accesses;
