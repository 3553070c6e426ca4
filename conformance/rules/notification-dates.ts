import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { pageShapeBreach } from "../judging/laws/notification.ts";
import { fold } from "../judging/laws/pages.ts";
import { tellingTimes } from "../lifetimes/calendar.ts";
import type { Judge } from "../checks/rule.ts";
import { objectOf } from "../world/exchange.ts";
import { EventHookFailed } from "../world/hooks/events.ts";
import { untilListed } from "../world/listing.ts";
import { timed } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { openLists, type List, type Listing } from "./shared/lists.ts";
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
      at === undefined ? undefined : offBy(Date.parse(String(createTime)), at, tolerances.visibilityMs);
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

/**
 * A notification of the second client holds too, if that is shown it: the hook may not heed whom an event concerns, nor
 * the service hand out what concerns another than the first.
 */
export const secondClientsOwnHolds = async (isDated: boolean, world: World): Promise<CaseVerdict> => {
  const { clock, events, secondClient, tolerances } = world;
  if (events === undefined || secondClient === undefined) return discard("nothing can be created for it");
  const accountId = events.account();
  try {
    const { at } = await timed(world, () => events.trigger(accountId, secondClient.id));
    const list = await openLists(world, secondClient);
    let seen = await list({ accountId });
    if (seen.items.length === 0) {
      await clock.sleep(tolerances.visibilityMs, tolerances.visibilityMs);
      seen = await list({ accountId });
    }
    return seen.items.length === 0
      ? discard("it is shown nothing")
      : pageHolds(seen, isDated ? () => at : undefined, world);
  } catch (error) {
    if (error instanceof EventHookFailed) return discard("the hook creates nothing for it");
    throw error;
  }
};

/** Those that were created beforehand hold too, if they are still listed after days, weeks and months. */
const olderHold = async (list: List, world: World): Promise<CaseVerdict> => {
  const [account] = world.prepared.notifications.accounts;
  const old = account === undefined ? undefined : await list({ accountId: account.accountId });
  return old?.served === true ? pageHolds(old, createdWhen(world), world) : pass;
};

/** A notification that is created at such a time has that time as its createTime. */
export const createdThenIsDatedThen: Judge<TimeInterval> = async ({ earliestMs, latestMs }, world) => {
  const { clock, events, tolerances } = world;
  if (events === undefined) return discard("nothing can be created");
  await clock.sleepUntil(earliestMs, latestMs - earliestMs);
  const accountId = events.account();
  const { at } = await timed(world, () => events.trigger(accountId));
  const list = await openLists(world);
  let seen = await list({ accountId });
  if (seen.items.length === 0) {
    await clock.sleep(tolerances.visibilityMs, tolerances.visibilityMs);
    const again = await openLists(world);
    await untilListed(world, async () => (seen = await again({ accountId })).items.length > 0);
  }
  const old = await olderHold(list, world);
  if (old.kind === "failed") return old;
  // What is not listed in time is for other rules to judge.
  return seen.items.length === 0 ? discard("it was not listed in time") : pageHolds(seen, () => at, world);
};
