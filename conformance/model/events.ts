import { DAY_MS } from "../contract/duration.ts";
import { fold } from "../judging/laws/pages.ts";
import { describe, pageOf, showsSomething, type Answer } from "../world/exchange.ts";
import { gaveData } from "../world/steps.ts";
import { givenToBeListed, untilListed } from "../world/listing.ts";
import type { World } from "../world/world.ts";
import { command, compare, Disagreement, during, pickFrom, sleep, type Command } from "./command.ts";
import { ofList, type AccessState, type EventState, type Expectation, type Model } from "./states.ts";

const PAGE = 5;
/** The document does not say for how long a notification is listed; nobody keeps it for less than this. */
const LISTED_FOR_MS = 2 * DAY_MS;
/** A list may be read this many times later than when all must be visible, so that histories wake together. */
const LATER = 60;

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
 * The notifications of the history's own account: those triggered, and no others (sections 4.4 and 6). With `at once`
 * some may not be visible yet; `settled` waits until all must be.
 */
export const readAccount = (pick: number, when: "at once" | "settled"): Command =>
  command(
    `list the account's notifications ${when}, with access token ${pick}`,
    (model) => firmTokens(model).length > 0,
    async (model, real) => {
      const { accountId, world } = real;
      if (accountId === undefined) return;
      const { visibilityMs } = world.tolerances;
      const latestMs = Math.max(...model.events.map(({ triggered }) => triggered.latestMs));
      const leftMs = latestMs + visibilityMs + 1 - model.now.earliestMs;
      if (when === "settled" && leftMs > 0 && leftMs < model.leftToWaitMs)
        await sleep(model, real, leftMs, LATER * visibilityMs);
      const access = pickFrom(model, firmTokens(model), pick);
      const look = async (): Promise<Look> => {
        const { value: answer, at } = await during(model, real, () =>
          world.target.list({ accessToken: access.value, query: { accountId, limit: PAGE } }),
        );
        const isVisible = ({ triggered }: EventState): boolean =>
          at.earliestMs - triggered.latestMs > visibilityMs &&
          at.latestMs - triggered.earliestMs < LISTED_FOR_MS;
        return {
          answer,
          expectation: ofList(model, access, at),
          least: model.events.filter(isVisible).length,
        };
      };
      let last = await look();
      await untilListed(world, async () => {
        if (showsEnough(last)) return true;
        last = await look();
        return showsEnough(last);
      });
      const { answer, expectation, least } = last;
      // A service may refuse to list nothing; whether the token works is asked elsewhere.
      if (least === 0 && !gaveData(answer)) return;
      // An empty page is what a live token may get, and tells a dead one nothing.
      const came = expectation.outcome === "yield" ? gaveData(answer) : showsSomething(answer);
      compare(model, expectation, came, "listing with an access token", answer);
      if (expectation.outcome === "yield") comparePage(model, world, answer, least);
    },
  );

/** One look at the account's list: what the access token should yield, and how many notifications must be there. */
interface Look {
  readonly answer: Answer;
  readonly expectation: Expectation;
  readonly least: number;
}

/** Whether all notifications that must appear are there. Until the first one is, a service may refuse to list nothing. */
const showsEnough = ({ answer, expectation, least }: Look): boolean =>
  expectation.outcome !== "yield" || (gaveData(answer) ? Number(pageOf(answer)?.total) : 0) >= least;

/** Access tokens of the first client, which the events are for, that nothing has put in doubt. */
const firmTokens = (model: Model): readonly AccessState[] =>
  model.accesses.filter(({ grant, doubtful }) => grant.client === 0 && !doubtful && !grant.doubtful);

const comparePage = (model: Model, world: World, answer: Answer, least: number): void => {
  const most = model.events.length;
  model.otherDecisions += 1;
  const page = pageOf(answer);
  const total = typeof page?.total === "number" ? page.total : Number.NaN;
  const ids = page?.ids.map(fold) ?? [];
  const triggered = new Set(model.events.map(({ id }) => (id === undefined ? undefined : fold(id))));
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
    `${describe(answer)}${total < least ? `; what was missing had to be listed ${givenToBeListed(world)}` : ""}`,
  );
};
