import type { Behaviour } from "../behaviour.ts";
import { slowStep } from "../changes.ts";
import { everything, type Notification } from "../notifications.ts";
import { afterwards, change, keeping, type LoadShow, rows, together } from "../registry.ts";

const reads: LoadShow = { scenario: "notifications", rate: 400, seconds: 10 };
const STALE_MS = 2_000;
/** Number of reads without interference: more than any single rule of the gate makes at quick effort. */
const QUICK_READS = 400;
const QUICK_READS_BESIDE_WRITES = 900;

/** Pages that are read after a slow step. */
const readAfter =
  (reading: ReturnType<typeof slowStep>, { readItems }: Behaviour) =>
  async (...asked: Parameters<Behaviour["readItems"]>): Promise<readonly Notification[]> => {
    await reading.pass(asked[3].clock);
    return readItems(...asked);
  };

/** Defects in the list (section 4.4) when reads meet reads and writes. */
export const loadNotificationDefects = {
  ...rows(
    {
      "notifications.filter-account notifications.filter-id": {
        "load-page-shared-by-all-filters: Slow concurrent reads share pages, whatever their filter.": (
          sound,
          underWay = new Map<string, Promise<readonly Notification[]>>(),
          reading = slowStep(10, QUICK_READS),
        ) => ({
          readItems: (selection, offset, paging, context) => {
            const key = `${paging.limit} ${paging.page}`;
            const shared = underWay.get(key);
            if (shared !== undefined) return shared;
            const read = readAfter(reading, sound)(selection, offset, paging, context).finally(() =>
              underWay.delete(key),
            );
            underWay.set(key, read);
            return read;
          },
        }),
        "load-pages-swapped: Slow concurrent reads get each other's pages.": (
          sound,
          read: (readonly Notification[])[] = [],
          sending = slowStep(10, QUICK_READS),
        ) => ({
          readItems: async (selection, offset, paging, context) => {
            read.push(await sound.readItems(selection, offset, paging, context));
            await sending.pass(context.clock);
            return read.pop() ?? [];
          },
        }),
      },
      "notifications.total": {
        "load-total-of-latest-request: Slow concurrent reads share one variable for total.": (
          sound,
          count = 0,
          reading = slowStep(10, QUICK_READS),
        ) => ({
          countMatches: (selection, context) => (count = sound.countMatches(selection, context)),
          readItems: readAfter(reading, sound),
          total: () => count,
        }),
      },
      "notifications.under-writes": {
        "load-total-stale-when-busy: A slow read beside two others returns a total that is up to two seconds old.":
          (
            sound,
            reading = slowStep(20, QUICK_READS_BESIDE_WRITES),
            counted = new Map<string, { readonly count: number; readonly atMs: number }>(),
          ) => ({
            countMatches: (selection, context) => {
              const key = `${selection.where} ${selection.parameters.join(" ")}`;
              const atMs = context.clock.realMs();
              const known = counted.get(key);
              if (known !== undefined && reading.inside() >= 2 && atMs - known.atMs < STALE_MS)
                return known.count;
              const count = sound.countMatches(selection, context);
              counted.set(key, { count, atMs });
              return count;
            },
            readItems: readAfter(reading, sound),
          }),
        "load-writes-lost-beside-reads: A notification created beside two slow reads is pushed but never listed.":
          (sound, reading = slowStep(10, QUICK_READS_BESIDE_WRITES)) => ({
            keepNotification: (...subject) => {
              if (reading.inside() < 2) sound.keepNotification(...subject);
            },
            readItems: async (selection, offset, paging, context) => {
              const items = await sound.readItems(selection, offset, paging, context);
              await reading.pass(context.clock);
              return items;
            },
          }),
        "load-page-shifted-by-writes: Slow concurrent reads read a page in two halves, with writes in between.":
          (sound, reading = slowStep(20, QUICK_READS_BESIDE_WRITES)) => ({
            order: () => "sequence DESC",
            readItems: async (selection, offset, { limit, page }, context) => {
              const alone = reading.inside() === 0;
              const half = alone ? limit : Math.ceil(limit / 2);
              const first = await sound.readItems(selection, offset, { limit: half, page }, context);
              await reading.pass(context.clock);
              const rest = { limit: limit - half, page };
              return alone
                ? first
                : [...first, ...(await sound.readItems(selection, offset + half, rest, context))];
            },
          }),
        "load-page-lacks-one-beside-writes: A slow page of an account lacks its last item if one is created meanwhile.":
          (sound, written: string[] = [], reading = slowStep(10, QUICK_READS_BESIDE_WRITES)) => ({
            keepNotification: (notification, ...more) => {
              written.push(notification.accountId);
              sound.keepNotification(notification, ...more);
            },
            readItems: async (selection, offset, paging, context) => {
              const before = written.length;
              const items = await sound.readItems(selection, offset, paging, context);
              await reading.pass(context.clock);
              const isWritten = written
                .slice(before)
                .some((account) => selection.parameters.includes(account));
              return isWritten ? items.slice(0, -1) : items;
            },
          }),
      },
      "notifications.pages-partition": {
        "load-items-share-a-buffer: A slow read beside two others returns another item's createTime.": (
          sound,
          latest: string[] = [],
          reading = slowStep(10, QUICK_READS),
        ) => ({
          readItems: async (selection, offset, paging, context) => {
            const items = await sound.readItems(selection, offset, paging, context);
            const isBusy = reading.inside() >= 2;
            await reading.pass(context.clock);
            const [first, ...rest] = items;
            if (first === undefined) return items;
            const createTime = isBusy ? (latest.pop() ?? first.createTime) : first.createTime;
            latest.push(first.createTime);
            return [{ ...first, createTime }, ...rest];
          },
        }),
      },
      "notifications.limit notifications.default-limit": {
        "load-filter-after-paging: A slow read beside two others cuts the page before it filters.": (
          sound,
          reading = slowStep(15, QUICK_READS),
        ) => ({
          readItems: async (selection, offset, paging, context) => {
            const busy = reading.inside() >= 2;
            await reading.pass(context.clock);
            if (!busy) return sound.readItems(selection, offset, paging, context);
            const all = { ...everything, orderBy: selection.orderBy };
            const page = await sound.readItems(all, offset, paging, context);
            return page.filter(({ id, accountId }) =>
              selection.parameters.every((asked) => asked === id || asked === accountId),
            );
          },
        }),
      },
    },
    { shownBy: reads },
  ),
  ...rows(
    {
      "notifications.under-writes": {
        "load-total-stops-at-150: The total of a list is never more than 150.": change(
          "countMatches",
          (count) => Math.min(count, 150),
        ),
      },
    },
    { shownBy: { ...reads, seconds: 20 } },
  ),
  "load-pages-slower-with-every-notification": {
    summary: "Every notification makes each later page six milliseconds slower.",
    breaks: [],
    misses: "list p95",
    shownBy: { ...reads, rate: 200 },
    replaces: keeping((leaked = 0) =>
      together(
        afterwards("keepNotification", () => void (leaked += 1)),
        { latencyMs: ({ operation }) => (operation === "list" ? Math.min(900, leaked * 6) : 0) },
      ),
    ),
  },
};
