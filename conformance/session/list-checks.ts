import { mistaken, skipped, type Check } from "../contract/check.ts";
import { duration } from "../contract/duration.ts";
import { showsData } from "../judging/laws/pages.ts";
import {
  describeBriefly,
  headerOf,
  pageOf,
  unlessUndecided,
  type Answer,
  ControlFailed,
  TransportError,
} from "../world/exchange.ts";
import { EventHookFailed, isLostEvent } from "../world/hooks/events.ts";
import { untilListed } from "../world/listing.ts";
import { gaveData, obtainTokens, tryToOpen } from "../world/steps.ts";
import { answerOrHangUp, type Client, type ListRequest } from "../world/target.ts";
import { type Prepared, type World, emptyPrepared } from "../world/world.ts";
import { howToFollow } from "./followed-check.ts";
import { prepareNotifications } from "../world/dataset.ts";
import { beginAnewAfter } from "../world/http/retry.ts";
import type { Session } from "./session.ts";

/**
 * Whether a token that was never issued gets an empty page, as where rows are filtered by their owner and a stranger owns
 * none. Then an empty page does not say that its token works.
 */
export const strangerGetsEmptyPage = async (world: World): Promise<boolean> =>
  (await orUndefined(() => shownTo(world, world.target.unique()))) === "an empty page";

/** What an empty page then says of its token, which needs a notification that each client is shown. */
export const meaningOfEmptyPage = async (
  world: World,
  clients: readonly Client[],
): Promise<NonNullable<Prepared["emptyPage"]>> => {
  for (const client of clients) if (!(await isSurelyShownOne(world, client))) return "undecided";
  return "refusal";
};

/** Whether the client is shown a notification; one is created for it if not. */
const isSurelyShownOne = async (world: World, client: Client): Promise<boolean> =>
  (await orUndefined(() => isShownOne(world, client))) === true;

const isShownOne = async (world: World, client: Client): Promise<boolean> => {
  const { accessToken } = await obtainTokens(world, { client });
  const isShown = async (): Promise<boolean> => (await shownTo(world, accessToken)) === "notifications";
  if (await isShown()) return true;
  if (world.events === undefined) return false;
  await world.events.trigger(world.events.account(), client.id);
  if (await isShown()) return true;
  const { visibilityMs } = world.tolerances;
  await world.clock.sleep(visibilityMs, visibilityMs);
  await untilListed(world, isShown);
  return isShown();
};

const shownTo = async (
  world: World,
  accessToken: string,
): Promise<"notifications" | "an empty page" | "no page"> => {
  const answer = await answerOrHangUp(world.target.list({ accessToken, query: { limit: 1 } }));
  const page = answer === undefined ? undefined : pageOf(answer);
  if (page === undefined) return "no page";
  return showsData(page) ? "notifications" : "an empty page";
};

/** A service whose flow or hook fails is reported elsewhere. */
const orUndefined = <T>(ask: () => Promise<T>): Promise<T | undefined> =>
  unlessUndecided(ask(), undefined).catch((error: unknown) => {
    if (error instanceof EventHookFailed) return undefined;
    throw error;
  });

interface RefusedLists {
  /** Whether a list of nothing is refused, and each client is known to be given one of something. */
  readonly refusesNothing: boolean;
  readonly check?: Check;
}

/**
 * Section 4.4 leaves open whether a list of nothing is refused. Where it is, each client needs a notification: the
 * tokens of one that is shown none would seem not to work.
 */
export const checkRefusedLists = async (world: World, clients: readonly Client[]): Promise<RefusedLists> => {
  const ofNothing = await unlessUndecided(refusalOfNothing(world), undefined);
  if (ofNothing === undefined) return { refusesNothing: false };
  for (const [index, client] of clients.entries()) {
    if (await isSurelyShownOne(world, client)) continue;
    const refusal = await unlessUndecided(refusalOfWholeList(world, client), undefined);
    if (refusal === undefined) continue;
    // Refused in another way, its token may be at fault: the rules judge that.
    if (refusal.status !== ofNothing.status) return { refusesNothing: false };
    return { refusesNothing: true, check: withoutNotifications(index, client, refusal) };
  }
  return { refusesNothing: true };
};

const withoutNotifications = (index: number, client: Client, refusal: Answer): Check =>
  mistaken(
    `clients[${index}]`,
    `client "${client.id}" is refused its list, as the first client is that of an account without notifications: ${describeBriefly(refusal)}`,
    `the client probably has no notifications: let \`hooks.events.trigger\` create them for {{clientId}}, create one by hand, or leave clients[${index}] out`,
  );

const refusalOfWholeList = async (world: World, client: Client): Promise<Answer | undefined> =>
  refusalOf(world, (await obtainTokens(world, { client })).accessToken, {});

/**
 * How a token that is given the whole list is refused that of an account without notifications: each time and on one
 * connection, or the token may be at fault.
 */
const refusalOfNothing = async (world: World): Promise<Answer | undefined> => {
  const connection = world.target.dedicated();
  try {
    const alone = { ...world, target: connection };
    const { accessToken } = await obtainTokens(alone);
    const { emptyAccountId } = world.prepared.notifications;
    const ofNothing = (): Promise<Answer | undefined> =>
      refusalOf(alone, accessToken, { accountId: emptyAccountId });
    const first = await ofNothing();
    if (first === undefined || (await refusalOf(alone, accessToken, {})) !== undefined) return undefined;
    return (await ofNothing()) === undefined ? undefined : first;
  } finally {
    await connection.close();
  }
};

/** The answer to a list request; undefined if it holds a page. */
const refusalOf = async (
  world: World,
  accessToken: string,
  query: NonNullable<ListRequest["query"]>,
): Promise<Answer | undefined> => {
  const answer = await answerOrHangUp(world.target.list({ accessToken, query: { ...query, limit: 1 } }));
  return answer === undefined || gaveData(answer) ? undefined : answer;
};

/**
 * Whether a service refuses the whole list although it lists the notifications of an account. Section 4 leaves open
 * whether a filter is required, but rules list without one, also to see whether a token works: such a service would seem
 * to break them. Undefined if it does not, or if nothing tells.
 */
export const checkWholeList = (world: World, accountId: string): Promise<Check | undefined> =>
  unlessUndecided(refusalOfWhole(world, accountId), undefined);

const refusalOfWhole = async (world: World, accountId: string): Promise<Check | undefined> => {
  const whole = {};
  const filtered = { accountId };
  const refusals: string[] = [];
  // In either order, each with a token of its own: only the filter may make the difference.
  for (const queries of [
    [whole, filtered],
    [filtered, whole],
  ]) {
    const { accessToken } = await obtainTokens(world);
    for (const query of queries) {
      const answer = await answerOrHangUp(world.target.list({ accessToken, query: { ...query, limit: 1 } }));
      if (answer === undefined || gaveData(answer) !== (query === filtered)) return undefined;
      // At another address, since a cache may keep the refusal of an earlier token.
      if (query === whole && gaveData(await world.target.list({ accessToken, query: { limit: 2 } })))
        return undefined;
      if (query === whole) refusals.push(describeBriefly(answer));
    }
  }
  return mistaken(
    "notifications",
    `lists with accountId are answered, but one without id and accountId is not: ${refusals[0]}`,
    "the document does not say whether a filter is required, but rules list without one; let the service answer such lists in the environment that is judged",
  );
};

/** How many times its expiresIn old the token gets: one that only lives somewhat too long is left to the rules. */
const TIMES_ITS_LIFE = 4;
/** How often the list is asked for, since several processes may serve it. */
const LISTINGS = 4;

/**
 * Whether what serves the list follows a faketime file, of a service whose timestamps do. The list carries none, so only
 * an accessToken that is long past its end tells. If it still opens the list, a process may be the reason that does not
 * read the file, or the service's accessTokens never end. A Date that moved shows that it is the latter, which is left
 * to the rules. One that did not may be a gateway's: then nothing tells these apart, and what needs a token to end there
 * is not judged.
 */
export const checkListClock = async (
  world: World,
  file: string,
): Promise<{ readonly checks: readonly Check[]; readonly prepared: Pick<Prepared, "unmovedList"> }> => {
  const opened = await unlessUndecided(openedAfterItsEnd(world), undefined);
  if (opened === undefined) return { checks: [], prepared: {} };
  const message = `an accessToken with an expiresIn of ${duration(opened.expiresInMs)} still opened the list at an age of ${duration(opened.ageMs)}: what serves the list does not follow "${file}", or accessTokens do not end, which cannot be told apart, as no Date of its answers moved`;
  const remedy = howToFollow(file);
  return {
    checks: [skipped("clock of the list", message, remedy)],
    prepared: { unmovedList: `${message}; ${remedy}` },
  };
};

const openedAfterItsEnd = async (
  world: World,
): Promise<{ readonly expiresInMs: number; readonly ageMs: number } | undefined> => {
  const { accessToken, expiresInMs } = await obtainTokens(world);
  const ageMs = TIMES_ITS_LIFE * expiresInMs;
  if (!(ageMs > 0) || !world.clock.canWait(ageMs)) return undefined;
  const before = await world.target.list({ accessToken, query: { limit: 1 } });
  await world.clock.sleep(ageMs);
  for (let listing = 1; listing <= LISTINGS; listing += 1) {
    const { isOpen, answer } = await tryToOpen(world, accessToken);
    if (isOpen) return dateMs(answer) - dateMs(before) >= ageMs / 2 ? undefined : { expiresInMs, ageMs };
  }
  return undefined;
};

/** NaN if there is none. */
const dateMs = (answer: Answer): number => Date.parse(headerOf(answer, "date") ?? "");

/** Creates or finds the notifications that rules read. If the list itself is at fault, the rules report it. */
export const checkNotifications = async (
  session: Session,
  world: World,
): Promise<{ check: Check; notifications: Prepared["notifications"] }> => {
  const check = session.events === undefined ? "notifications" : "hooks.events.trigger";
  try {
    const { sets, notes } = await beginAnewAfter(isLostEvent, () =>
      prepareNotifications({
        target: world.target,
        clock: world.clock,
        events: session.events,
        limits: world.limits,
        tolerances: world.tolerances,
        accessToken: async () => (await obtainTokens(world)).accessToken,
        freshUuid: session.freshUuid,
        secondClientId: world.secondClient?.id,
      }),
    );
    const count = sets.accounts.reduce((sum, { ids }) => sum + ids.length, 0);
    return {
      notifications: sets,
      check: {
        check,
        ok: count > 0,
        message: [`${count} notifications in ${sets.accounts.length} accounts can be read`, ...notes].join(
          "; ",
        ),
        ...(session.events === undefined && {
          remedy: "add `hooks.events.trigger` for rules that create notifications",
        }),
      },
    };
  } catch (error) {
    const { notifications } = emptyPrepared;
    if (error instanceof EventHookFailed)
      return {
        notifications,
        check: mistaken(
          check,
          error.message.replace(`${check}: `, ""),
          "call the hook by hand and compare; `accounts` in the profile lists the accounts that it may be called for",
        ),
      };
    if (error instanceof ControlFailed || error instanceof TransportError)
      return { notifications, check: { check, ok: false, message: error.message } };
    throw error;
  }
};
