import type { Notification } from "../notifications.ts";
import { decisions, loadRows, type LoadShow } from "../registry.ts";
import { slowStep } from "../contention.ts";

const reads: LoadShow = { scenario: "notifications", rate: 400, seconds: 10 };
const STALE_MS = 2_000;
/** So many reads go well before one can disturb another: more than any one rule of the gate makes at quick effort. */
const QUICK_READS = 400;
const QUICK_READS_BESIDE_WRITES = 900;

/** The list (section 4.4) gone wrong where reads meet reads and writes. */
export const loadNotificationDefects = {
  ...loadRows(reads, {
    "notifications.filter-account": {
      "load-page-shared-by-all-filters: Once reads are slow, those of the same page number and size share one read, whatever they filter by.":
        [
          decisions(
            (
              sound,
              underWay = new Map<string, Promise<readonly Notification[]>>(),
              reading = slowStep(10, QUICK_READS),
            ) => ({
              readItems: (selection, offset, paging, context) => {
                const key = `${paging.limit} ${paging.page}`;
                const shared = underWay.get(key);
                if (shared !== undefined) return shared;
                const read = reading
                  .pass(context.clock)
                  .then(() => sound.readItems(selection, offset, paging, context))
                  .finally(() => underWay.delete(key));
                underWay.set(key, read);
                return read;
              },
            }),
          ),
          "notifications.filter-id",
        ],
      "load-pages-swapped: Once reads are slow, pages that are read at the same time go to one another's requests.":
        [
          decisions((sound, read: (readonly Notification[])[] = [], sending = slowStep(10, QUICK_READS)) => ({
            readItems: async (selection, offset, paging, context) => {
              read.push(await sound.readItems(selection, offset, paging, context));
              await sending.pass(context.clock);
              return read.pop() ?? [];
            },
          })),
          "notifications.filter-id",
        ],
    },
    "notifications.total": {
      "load-total-of-latest-request: The total stands in a variable that all requests share, and once reads are slow others come between.":
        decisions((sound, count = 0, reading = slowStep(10, QUICK_READS)) => ({
          countMatches: (selection, context) => (count = sound.countMatches(selection, context)),
          readItems: async (selection, offset, paging, context) => {
            await reading.pass(context.clock);
            return sound.readItems(selection, offset, paging, context);
          },
          total: () => count,
        })),
    },
    "notifications.under-writes": {
      "load-total-stale-when-busy: Once reads are slow, a total beside two other reads is one that was counted up to two seconds ago.":
        decisions(
          (
            sound,
            reading = slowStep(10, QUICK_READS_BESIDE_WRITES),
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
            readItems: async (selection, offset, paging, context) => {
              await reading.pass(context.clock);
              return sound.readItems(selection, offset, paging, context);
            },
          }),
        ),
      "load-writes-lost-beside-reads: Once reads are slow, a notification that comes beside two of them is pushed, and never listed.":
        decisions((sound, reading = slowStep(10, QUICK_READS_BESIDE_WRITES)) => ({
          keepNotification: (...subject) => {
            if (reading.inside() < 2) sound.keepNotification(...subject);
          },
          readItems: async (selection, offset, paging, context) => {
            const items = await sound.readItems(selection, offset, paging, context);
            await reading.pass(context.clock);
            return items;
          },
        })),
      "load-page-shifted-by-writes: Once reads are slow, a page beside another one is read in two halves, newest first, and writes come between.":
        decisions((sound, reading = slowStep(20, QUICK_READS_BESIDE_WRITES)) => ({
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
        })),
    },
    "notifications.limit": {
      "load-filter-after-paging: Once reads are slow, a page beside two others is cut out of everything before the filter is applied.":
        [
          decisions((sound, reading = slowStep(15, QUICK_READS)) => ({
            readItems: async (selection, offset, paging, context) => {
              const busy = reading.inside() >= 2;
              await reading.pass(context.clock);
              if (!busy) return sound.readItems(selection, offset, paging, context);
              const everything = { where: "TRUE", parameters: [], orderBy: selection.orderBy };
              const page = await sound.readItems(everything, offset, paging, context);
              return page.filter(({ id, accountId }) =>
                selection.parameters.every((asked) => asked === id || asked === accountId),
              );
            },
          })),
          "notifications.default-limit",
        ],
    },
  }),
  "load-pages-slower-with-every-notification": {
    summary: "Every notification makes each later page six milliseconds slower.",
    breaks: [],
    misses: "list p95",
    shownBy: { ...reads, rate: 200 },
    replaces: decisions((sound, leaked = 0) => ({
      keepNotification: (...subject) => {
        leaked += 1;
        sound.keepNotification(...subject);
      },
      latencyMs: ({ operation }) => (operation === "list" ? Math.min(900, leaked * 6) : 0),
    })),
  },
};
