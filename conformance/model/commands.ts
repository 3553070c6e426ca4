import { cutFrom } from "../judging/lifetimes/probe.ts";
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
} from "./command.ts";
import {
  ofExchange,
  ofList,
  ofRefresh,
  type AccessState,
  type CodeState,
  type GrantState,
  type Model,
} from "./states.ts";
import { codeIssued, codeUsed, exchangeRefused, refreshed, type GivenTokens } from "./transitions.ts";

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
  const body = { ...exchangeBody(client, code.value), clientSecret: real.world.unique() };
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
