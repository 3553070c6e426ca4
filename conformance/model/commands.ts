import type fc from "fast-check";
import { credentialsOf, describe, grantOf, idsOf, pageOf } from "../answers.ts";
import { duration } from "../contract/duration.ts";
import { exchangeBody, gaveData, refreshBody, yielded } from "../steps.ts";
import type { Answer, Bracket } from "../world/exchange.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { guardFor } from "./standing.ts";
import {
  ofExchange,
  ofList,
  ofRefresh,
  type AccessState,
  type CodeState,
  type Expectation,
  type GrantState,
  type Model,
} from "./states.ts";
import { codeIssued, codeUsed, exchangeRefused, refreshed } from "./transitions.ts";

/** The service that a history runs against. */
export interface Real {
  readonly world: World;
  readonly clients: readonly Client[];
  /** An account whose notifications all come from this history; undefined where the run cannot have one. */
  readonly accountId: string | undefined;
}

/** One step of a history. Without a service it does nothing: that is how the shrinker marks it as run. */
export type Command = fc.AsyncCommand<Model, Real | undefined>;

/** The service answered otherwise than the model says. */
export class Disagreement extends Error {
  readonly expected: string;
  readonly actual: string;
  constructor(expected: string, actual: string) {
    super(actual);
    this.name = "Disagreement";
    this.expected = expected;
    this.actual = actual;
  }
}

type Kind = "code" | "refresh token" | "access token";

/** Room for a request's own travel before the end of a lifetime, in milliseconds. */
const TRAVEL_MS = 400;
const PAGE = 5;
/** How many credentials of a kind are tried at once, the latest of them. */
const MOST_TRIED = 5;

const command = (
  name: string,
  check: (model: Model) => boolean,
  run: (model: Model, real: Real) => Promise<void>,
): Command => ({
  check: (model) => check(model),
  run: async (model, real) => {
    if (real !== undefined) await run(model, real);
  },
  toString: () => name,
});

/** Does something and says between which moments; each moment is read once, as time never runs backwards. */
const during = async <T>(
  model: Model,
  { world }: Real,
  action: () => Promise<T>,
): Promise<{ value: T; at: Bracket }> => {
  const { earliestMs } = model.now;
  const value = await action();
  model.now = await world.clock.now();
  return { value, at: { earliestMs, latestMs: model.now.latestMs } };
};

/**
 * What was waited for last and what belongs to it, then the newest, then older ones;
 * `pick` counts from the front and wraps around.
 */
const pickFrom = <T extends CodeState | GrantState | AccessState>(
  { focus }: Model,
  all: readonly T[],
  pick: number,
): T => {
  const grant = focus !== undefined && "grant" in focus ? focus.grant : focus;
  const belongs = (one: T): boolean =>
    one === grant || ("grant" in one && grant !== undefined && one.grant === grant);
  const rank = (one: T): number => (one === focus ? 0 : belongs(one) ? 1 : 2);
  const ordered = all.toReversed().toSorted((a, b) => rank(a) - rank(b));
  return ordered[pick % ordered.length] as T;
};

const clientOf = (real: Real, index: number): Client => real.clients[index % real.clients.length] as Client;

/** Compares what came with what the model expects, and counts the decision. */
const compare = (
  model: Model,
  expectation: Expectation,
  came: boolean,
  subject: string,
  answer: Answer,
): void => {
  if (expectation.outcome === "either") return;
  model.decided.push(expectation.state);
  if (came === (expectation.outcome === "yield")) return;
  throw new Disagreement(
    `${subject} ${expectation.outcome === "yield" ? "succeeds" : "is refused"} (${expectation.state})`,
    `${came ? "it succeeded" : "it was refused"}: ${describe(answer)}`,
  );
};

/** A new code (section 4.1). */
export const authorize = (client: number): Command =>
  command(
    `authorize for client ${client + 1}`,
    () => true,
    async (model, real) => void (await authorizeRightly(model, real, client)),
  );

/** The whole flow (section 5.1): grants side by side are what deep histories need most. */
export const logIn = (client: number): Command =>
  command(
    `authorize for client ${client + 1} and exchange the code`,
    () => true,
    async (model, real) => exchangeRightly(model, real, await authorizeRightly(model, real, client)),
  );

const authorizeRightly = async (model: Model, real: Real, client: number): Promise<CodeState> => {
  const { value: answer, at } = await during(model, real, () =>
    real.world.target.authorize({ client: clientOf(real, client) }),
  );
  const code = grantOf(answer)?.code;
  model.otherDecisions += 1;
  if (code === undefined)
    throw new Disagreement("a valid authorization yields a code", `it was refused: ${describe(answer)}`);
  if (model.codes.some(({ value }) => value === code))
    throw new Disagreement("each authorization yields a code of its own", "an earlier code came again");
  return codeIssued(model, code, client, at);
};

/**
 * An exchange of a known code by its own client (section 4.2): one that was used already,
 * or one that was not, be it fresh or expired. They are chosen apart, because presenting
 * a used code again leaves nothing to expect of its tokens.
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
  // A field of that name need not hold a token; where none is due, it counts only if it works.
  const came =
    expectation.outcome === "yield"
      ? accessToken !== undefined && refreshToken !== undefined
      : (await yielded(real.world, answer, clientOf(real, code.client))) !== undefined;
  compare(model, expectation, came, "the exchange of a code", answer);
  if (!came || accessToken === undefined || refreshToken === undefined) exchangeRefused(code);
  else codeUsed(model, code, { accessToken, refreshToken, lifetimeMs: lifetimeMs(expiresIn) }, at);
};

const exchangeWrongly = async (model: Model, real: Real, code: CodeState): Promise<void> => {
  const client = clientOf(real, code.client);
  const body = { ...exchangeBody(client, code.value), clientSecret: `${client.secret.slice(0, -1)}~` };
  const { value: answer } = await during(model, real, () => real.world.target.exchange(body));
  model.otherDecisions += 1;
  if ((await yielded(real.world, answer, client)) !== undefined)
    throw new Disagreement("an exchange with a wrong secret is refused", `it succeeded: ${describe(answer)}`);
  exchangeRefused(code);
};

/** A refresh with a known refresh token, valid or not any more, by its own client (section 4.3). */
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
    refreshed(model, grant, { accessToken, lifetimeMs: lifetimeMs(expiresIn) }, at);
};

/** A look at the list with a known access token, live or dead (section 4.4). */
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
  compare(model, ofList(model, access, at), gaveData(answer), "listing with an access token", answer);
};

/**
 * Tries what the history has at hand: each of the latest access tokens, then each refresh
 * token, then the access tokens once more. What one step did to the others shows here.
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

/** Presents every code of the history once more, or for the first time. */
export const presentAll = (): Command =>
  command(
    "exchange every code",
    (model) => model.codes.length > 0,
    async (model, real) => {
      for (const code of model.codes.slice(-MOST_TRIED)) await exchangeRightly(model, real, code);
    },
  );

/** An event in the history's own account (section 6). */
export const triggerEvent = (): Command =>
  command(
    "trigger an event",
    () => true,
    async (model, real) => {
      const { accountId, world } = real;
      if (accountId === undefined || world.events === undefined) return;
      const events = world.events;
      const { value: id, at } = await during(model, real, () => events.trigger(accountId));
      model.events.push({ id, triggered: at });
    },
  );

/**
 * The notifications of the history's own account: those triggered, and no others (sections
 * 4.4 and 6). At once some may not be visible yet; `settled` waits until all have to be.
 */
export const readAccount = (pick: number, when: "at once" | "settled"): Command =>
  command(
    `list the account's notifications ${when}, with access token ${pick}`,
    (model) => firmTokens(model).length > 0,
    async (model, real) => {
      const { accountId, world } = real;
      if (accountId === undefined) return;
      const { visibilityMs } = world.tolerances;
      if (when === "settled" && model.events.length > 0 && visibilityMs < model.leftToWaitMs)
        await sleep(model, real, visibilityMs + 1);
      const access = pickFrom(model, firmTokens(model), pick);
      const { value: answer, at } = await during(model, real, () =>
        world.target.list({ accessToken: access.value, query: { accountId, limit: PAGE } }),
      );
      const expectation = ofList(model, access, at);
      compare(model, expectation, gaveData(answer), "listing with an access token", answer);
      if (expectation.outcome !== "yield") return;
      const visible = model.events.filter(
        ({ triggered }) => at.earliestMs - triggered.latestMs > visibilityMs,
      );
      comparePage(model, answer, visible.length, model.events.length);
    },
  );

/** Access tokens of the first client, which the events are for, that nothing has put in doubt. */
const firmTokens = (model: Model): readonly AccessState[] =>
  model.accesses.filter(({ grant, doubtful }) => grant.client === 0 && !doubtful && !grant.doubtful);

const comparePage = (model: Model, answer: Answer, least: number, most: number): void => {
  model.otherDecisions += 1;
  const page = pageOf(answer);
  const total = typeof page?.total === "number" ? page.total : Number.NaN;
  const ids = page === undefined ? [] : idsOf(page);
  const triggered = new Set(model.events.map(({ id }) => id));
  const strange = triggered.has(undefined) ? undefined : ids.find((id) => !triggered.has(id));
  if (
    total >= least &&
    total <= most &&
    ids.length === Math.min(PAGE, total) &&
    strange === undefined &&
    new Set(ids).size === ids.length
  )
    return;
  throw new Disagreement(
    `the account has ${least === most ? least : `${least} to ${most}`} notifications, each of an event that was triggered for it, in pages of ${PAGE}`,
    describe(answer),
  );
};

/** Some time passes, whatever lives or dies meanwhile. */
export const wait = (waitMs: number): Command =>
  command(
    `wait ${duration(waitMs)}`,
    (model) => waitMs <= model.leftToWaitMs,
    (model, real) => sleep(model, real, waitMs),
  );

/** Time passes until a credential is right before or after its end, which the next command finds in front. */
export const waitForEnd = (kind: Kind, pick: number, side: "before" | "after", distanceMs: number): Command =>
  command(
    `wait until ${duration(distanceMs)} ${side} the end of ${kind} ${pick}, and the guard`,
    (model) => mortals(model, kind).length > 0,
    async (model, real) => {
      const mortal = pickFrom(model, mortals(model, kind), pick);
      const { issued, lifetimeMs } = mortal;
      const guardMs = guardFor(lifetimeMs, model.guardMs);
      const waitMs =
        side === "before"
          ? lifetimeMs - guardMs - TRAVEL_MS - distanceMs - (model.now.latestMs - issued.earliestMs)
          : lifetimeMs + guardMs + distanceMs - (model.now.earliestMs - issued.latestMs);
      // A lifetime that is no number, one that has passed, and one longer than the history may wait: none is waited for.
      if (!(waitMs <= model.leftToWaitMs)) return;
      model.focus = mortal;
      if (waitMs > 0) await sleep(model, real, waitMs);
    },
  );

const mortals = (
  model: Model,
  kind: Kind,
): readonly (Model["codes"] | Model["grants"] | Model["accesses"])[number][] =>
  kind === "code" ? model.codes : kind === "refresh token" ? model.grants : model.accesses;

const sleep = async (model: Model, { world }: Real, waitMs: number): Promise<void> => {
  await world.clock.sleep(waitMs);
  model.leftToWaitMs -= waitMs;
  model.now = await world.clock.now();
};

const lifetimeMs = (expiresIn: unknown): number =>
  typeof expiresIn === "number" ? expiresIn * 1_000 : Number.NaN;
