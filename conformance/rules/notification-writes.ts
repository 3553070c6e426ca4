import { allHold, fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { asked, type ListQuery } from "../judging/laws/lists.ts";
import { duplicateBreach, fold, totalBreach } from "../judging/laws/pages.ts";
import { exchangesOf, openLists, readPages, type List, type Listing, cutListHolds } from "./shared/lists.ts";
import { counted } from "../contract/text.ts";
import { mapLimited } from "../checks/map-limited.ts";
import type { Rules, Judge } from "../checks/rule.ts";
import { ControlFailed } from "../world/exchange.ts";
import { givenToBeListed, untilListed } from "../world/listing.ts";
import { whyMissing, type Certain } from "./notification-reads.ts";
import type { World } from "../world/world.ts";

/** Section 4.4: the list while notifications are created. */
export const notificationWriteRules = {
  "notifications.under-writes": {
    needs: ["events"],
    waitsMs: ({ tolerances }) => tolerances.visibilityMs + LISTED_MS,
    waits: (world, run) => {
      const { defaultLimit } = world.limits;
      // The longest first: it is used to repeat a breach.
      const plans = [
        { limit: defaultLimit, writers: 4, events: MOST_EVENTS },
        { limit: 3, writers: 2, events: 6 },
        { limit: 1, writers: 1, events: 8 },
        { limit: 2 * defaultLimit, writers: 8, events: 4 },
      ];
      return run.forEach(
        Array.from({ length: run.cases(0.25) }, (_, index) => plans[index % plans.length] as Plan),
        listStaysTrue,
        { together: true, replays: 3, print: printPlan },
      );
    },
  },
} satisfies Rules;

interface Plan {
  readonly limit: number;
  /** Number of concurrent writers. */
  readonly writers: number;
  /** Number of events that each of them triggers, one after another. */
  readonly events: number;
}

const printPlan = ({ limit, writers, events }: Plan): string =>
  `${counted(writers, "writer")} of ${counted(events, "event")} each, read in pages of ${limit}`;

/** How long after the tolerance to look, in milliseconds. */
const LISTED_MS = 100;
const MOST_EVENTS = 16;
/** Reads concurrent with the writers; more would prove nothing more. */
const MOST_LOOKS = 60;
const ENOUGH_LOOKS = 20;

/** One account's history: what can be there at most, what must be there at least, and what broke. */
interface History extends Certain {
  readonly world: World;
  readonly accountId: string;
  list: List;
  /** Events begun, whatever their outcome. */
  begun: number;
  readonly acknowledged: Set<string>;
  settled: Certain["settled"];
  readonly reads: Listing[];
  /** Ids shown by completed reads: these must stay listed. */
  readonly seen: Set<string>;
  readonly judgements: CaseVerdict[];
}

const listStaysTrue: Judge<Plan> = async (plan, world) => {
  const history = await beginHistory(world);
  await write(history);
  const writers = { left: plan.writers };
  // One writer reads after each event, because concurrent writers hide the effect of a single event on a page. The others
  // read at the same time, because what a write disturbs may be over after it.
  const writer = async (hurries: boolean): Promise<void> => {
    for (let event = 0; !enough(event, plan, history); event += 1) {
      const writing = write(history);
      if (!hurries) await writing;
      await Promise.all([writing, look(history, { limit: plan.limit })]);
    }
    writers.left -= 1;
  };
  const reader = async (query: ListQuery): Promise<void> => {
    for (let looks = 0; writers.left > 0 && looks < MOST_LOOKS; looks += 1) await look(history, query);
  };
  await Promise.all([
    reader({ limit: 1 }),
    reader({ limit: world.limits.defaultLimit }),
    reader({}),
    walk(history, plan.limit, 3),
    ...Array.from({ length: plan.writers }, (_, index) => writer(index > 0)),
  ]);
  if (plan.events === MOST_EVENTS) await fill(history);
  // Twice: a count cached at the first look is wrong at the second.
  for (let round = 0; round < 2; round += 1) {
    await settle(history);
    await look(history, { limit: 1 });
    await walk(history, world.limits.defaultLimit, 0);
    if (round > 0) continue;
    // Right after a write: what had to be listed before is not new, so nothing excuses its absence.
    await Promise.all([write(history), write(history)]);
    await look(history, { limit: world.limits.defaultLimit });
  }
  if (plan.events === MOST_EVENTS)
    history.judgements.push(...(await cutListHolds(history.list, {}, history.settled.ids)));
  return allHold(history.judgements);
};

const MORE_EVENTS = 48;
const MORE_LOOKS = 8;

/** Writes on at full pages: one that is read in pieces shows if something is written in between. */
const fill = async (history: History): Promise<void> => {
  const read = async (): Promise<void> => {
    for (let looks = 0; looks < MORE_LOOKS; looks += 1)
      await look(history, { limit: history.world.limits.defaultLimit });
  };
  await Promise.all([mapLimited(Array.from({ length: MORE_EVENTS }), 4, () => write(history)), read()]);
};

/** If reads are slow, writing continues, within limits, until enough reads ran concurrently. */
const enough = (event: number, plan: Plan, history: History): boolean =>
  event >= plan.events && (history.judgements.length >= ENOUGH_LOOKS || event >= 3 * plan.events);

const beginHistory = async (world: World): Promise<History> => {
  const { events } = world;
  if (events === undefined) throw new ControlFailed("the profile has no hook events.trigger");
  const accountId = events.account();
  const list = await openLists(world);
  // Also of an account that must be empty: a cache may keep that it is.
  const [first] = await Promise.all([list({ accountId, limit: 1 }), list({ accountId })]);
  const before = typeof first.total === "number" && !events.accountsAreFresh ? first.total : 0;
  return {
    world,
    accountId,
    list,
    begun: 0,
    acknowledged: new Set(),
    settled: { count: before, ids: new Set(), wasAwaited: false },
    reads: [],
    seen: new Set(),
    before,
    first,
    judgements: [],
  };
};

const write = async (history: History): Promise<void> => {
  history.begun += 1;
  const nth = history.begun;
  const id = await history.world.events?.trigger(history.accountId);
  history.acknowledged.add(id === undefined ? `untold ${nth}` : fold(id));
};

/** Waits until everything acknowledged must be listed. The wait may outlive the token. */
const settle = async (history: History): Promise<void> => {
  const inAll = history.world.events?.acknowledged() ?? 0;
  const { visibilityMs } = history.world.tolerances;
  await history.world.clock.sleep(visibilityMs + LISTED_MS, visibilityMs);
  history.list = await openLists(history.world);
  const ids = [...history.acknowledged].filter((id) => !id.startsWith("untold"));
  await untilListed(history.world, () => areListed(history, ids));
  const count = history.before + history.acknowledged.size;
  history.settled = { count, ids: new Set(ids), wasAwaited: true };
  history.judgements.push(await totalOfAllHolds(history, inAll));
};

/** The whole list holds at least everything this run had created by then, in any account. */
const totalOfAllHolds = async ({ world, list }: History, least: number): Promise<CaseVerdict> => {
  let before: Listing | undefined;
  let after = await list({ limit: 1 });
  const isShort = ({ served, total }: Listing): boolean => served && !(Number(total) >= least);
  await untilListed(world, async () => {
    before = after;
    if (!isShort(after)) return true;
    after = await list({ limit: 1 });
    return !isShort(after);
  });
  if (!isShort(after)) return pass;
  if (Number(after.total) < Number(before?.total)) return discard("somebody else is removing notifications");
  return fail(
    `total of the whole list is at least ${least}, the number of events of this run acknowledged before`,
    `with limit=1 it got ${after.said}; everything had to be listed ${givenToBeListed(world)}`,
    exchangesOf(after),
  );
};

/** Whether as many are listed as were acknowledged, including all known ids. Judges nothing. */
const areListed = async (history: History, ids: readonly string[]): Promise<boolean> => {
  const { accountId, before, acknowledged, list } = history;
  const least = before + acknowledged.size;
  const { defaultLimit } = history.world.limits;
  const pages = await readPages(
    list,
    { accountId, limit: defaultLimit },
    Math.ceil(least / defaultLimit) + 1,
  );
  const listed = new Set(pages.flatMap((page) => page.ids));
  return Number(pages[0]?.total) >= least && ids.every((id) => listed.has(id));
};

/** Reads one page and judges it by what had been seen before the request and begun before the answer. */
const look = async (history: History, query: ListQuery): Promise<Listing> => {
  const earlier = history.reads.length;
  const seen = new Set(history.seen);
  const least = Math.max(history.settled.count, seen.size);
  const listing = await history.list({ accountId: history.accountId, ...query });
  const { served, ids, total, said } = listing;
  // A service may refuse to list nothing.
  if (!served && least === 0) return listing;
  // Others may write to an account that is not the run's own; then there is no upper bound.
  const most = history.world.events?.accountsAreFresh === true ? history.begun : Infinity;
  const where = `with ${asked({ accountId: "", ...query })} `;
  const { why, shown } = whyMissing(
    history,
    { got: Number(total), least },
    history.reads.slice(0, earlier),
    seen,
  );
  const wrongTotal = totalBreach(total, { least, most });
  const breach = wrongTotal ?? duplicateBreach({ ids });
  history.judgements.push(
    breach === undefined
      ? pass
      : fail(breach.expected, `${where}it got ${said}${wrongTotal === undefined ? "" : why}`, [
          ...(Number(total) < least ? shown : []),
          ...exchangesOf(listing),
        ]),
  );
  history.reads.push(listing);
  for (const id of ids) history.seen.add(id);
  return listing;
};

/**
 * Walks to the first page without items. What was visible when the walk began must appear; that new notifications push
 * others onto a page where they appear again is not a breach. An event is triggered after each of the first `events`
 * pages.
 */
const walk = async (history: History, limit: number, events: number): Promise<void> => {
  const earlier = history.reads.length;
  const atStart = new Set([...history.seen, ...history.settled.ids]);
  const settledCount = history.settled.count;
  const found = new Set<string>();
  const pages: Listing[] = [];
  for (let page = 0; page <= Math.ceil((history.before + history.begun) / limit) + 2; page += 1) {
    const listing = await look(history, { limit, page });
    pages.push(listing);
    if (listing.ids.length === 0) break;
    for (const id of listing.ids) found.add(id);
    if (page < events) await write(history);
  }
  const missing = [...atStart].filter((id) => !found.has(id));
  const short = Math.max(missing.length, settledCount - found.size);
  const { why, shown } = whyMissing(
    history,
    { got: found.size, least: atStart.size },
    history.reads.slice(0, earlier),
    missing,
  );
  history.judgements.push(
    short > 0
      ? fail(
          `reading pages with limit=${limit} until one is empty shows everything that was there at the start`,
          `${short} of at least ${Math.max(atStart.size, settledCount)} did not appear${why}`,
          [...shown, ...exchangesOf(...pages)],
        )
      : pass,
  );
};
