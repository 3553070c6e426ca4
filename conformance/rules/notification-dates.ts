import { momentOf } from "../contract/forms.ts";
import { allHold, fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { pageShapeBreach } from "../judging/laws/notification.ts";
import { fold } from "../judging/laws/pages.ts";
import { tellingTimes } from "../lifetimes/calendar.ts";
import type { Judge } from "../checks/rule.ts";
import type { Client } from "../world/target.ts";
import { objectOf } from "../world/exchange.ts";
import { EventHookFailed, type Events } from "../world/hooks/events.ts";
import { untilListed } from "../world/listing.ts";
import { timed } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { openLists, type Listing } from "./shared/lists.ts";
import { offBy } from "./told-time.ts";

/** When a notification was created, by its id in lower case; undefined if the run did not create it. */
type CreatedWhen = (id: unknown) => TimeInterval | undefined;

/** For the notifications that the run created beforehand. */
export const createdWhen =
  ({ prepared: { notifications } }: World): CreatedWhen =>
  (id) =>
    notifications.accounts.map((account) => account.created?.get(fold(id))).find((at) => at !== undefined);

/** A page has its shape, and where it is known when its notifications were created, they say so. */
export const pageHolds = (seen: Listing, created: CreatedWhen | undefined, world: World): CaseVerdict => {
  const breach = pageShapeBreach(seen.answer === undefined ? {} : objectOf(seen.answer));
  if (breach !== undefined) return verdictOf(breach, () => seen.said);
  return created === undefined ? pass : datesAreTrue(seen.items, created, world);
};

/** createTime is the time of creation, in UTC (section 2.3). For events that the run triggered, their time is known. */
const datesAreTrue = (items: Listing["items"], created: CreatedWhen, { tolerances }: World): CaseVerdict => {
  for (const { id, createTime } of items) {
    const at = created(id);
    const off =
      at === undefined
        ? undefined
        : offBy(momentOf(String(createTime)) ?? Number.NaN, at, tolerances.visibilityMs);
    if (at !== undefined && off !== undefined)
      return fail(
        "createTime is the time of creation, in UTC",
        `it is ${JSON.stringify(createTime)} for an event triggered at ${new Date(at.earliestMs).toISOString()} by the service's clock, ${off}`,
      );
  }
  return pass;
};

/** The times to which this run moves the clock and creates a notification, because wrong dates show there. */
export const laterTimes = async ({ clock, events }: World): Promise<readonly TimeInterval[]> => {
  if (events?.accountsAreFresh !== true) return [];
  const { latestMs } = await clock.now();
  return tellingTimes(latestMs).filter(({ latestMs: endMs }) => clock.canWait(endMs - latestMs));
};

/** Creates a notification in an account of its own, and reads that account; again when it must be listed, if it is not. */
const createAndRead = async (world: World, events: Events, client?: Client) => {
  const accountId = events.account();
  const { at } = await timed(world, () => events.trigger(accountId, client?.id));
  const read = async () => (await openLists(world, client))({ accountId });
  let seen = await read();
  if (seen.items.length === 0) {
    const { visibilityMs } = world.tolerances;
    await world.clock.sleep(visibilityMs, visibilityMs);
    seen = await read();
  }
  return { accountId, at, seen };
};

/**
 * Judges a notification that concerns the second client, if that client is shown it. Hooks may ignore the client, and
 * services may show notifications to the first client only.
 */
export const secondClientsOwnHolds = async (isDated: boolean, world: World): Promise<CaseVerdict> => {
  const { events, secondClient } = world;
  if (events === undefined || secondClient === undefined) return discard("nothing can be created for it");
  try {
    const { at, seen } = await createAndRead(world, events, secondClient);
    return seen.items.length === 0
      ? discard("it is shown nothing")
      : pageHolds(seen, isDated ? () => at : undefined, world);
  } catch (error) {
    if (error instanceof EventHookFailed) return discard("the hook creates nothing for it");
    throw error;
  }
};

/**
 * Judges notifications that the run created at its start, if they are still listed days, weeks or months later, and the
 * page of the whole list, with what other rules have created until then.
 */
const olderHold = async (world: World, greatest: number): Promise<CaseVerdict> => {
  const [account] = world.prepared.notifications.accounts;
  if (account === undefined) return pass;
  const list = await openLists(world);
  const old = [await list({ accountId: account.accountId }), await list({ limit: greatest })];
  return allHold(old.map((seen) => (seen.served ? pageHolds(seen, createdWhen(world), world) : pass)));
};

/** A notification that is created at such a time has that time as its createTime. `greatest` is the list's greatest limit. */
export const createdThenIsDatedThen =
  (greatest: number): Judge<TimeInterval> =>
  async ({ earliestMs, latestMs }, world) => {
    const { clock, events } = world;
    if (events === undefined) return discard("nothing can be created");
    await clock.sleepUntil(earliestMs, latestMs - earliestMs);
    const { accountId, at, ...first } = await createAndRead(world, events);
    let { seen } = first;
    if (seen.items.length === 0) {
      const list = await openLists(world);
      await untilListed(world, async () => (seen = await list({ accountId })).items.length > 0);
    }
    const old = await olderHold(world, greatest);
    if (old.kind === "failed") return old;
    // What is not listed in time is for other rules to judge.
    return seen.items.length === 0 ? discard("it was not listed in time") : pageHolds(seen, () => at, world);
  };
