import type { Notification } from "../notifications.ts";
import { change, decide, decisions, type Replacement, rows } from "../registry.ts";
import { asksFor } from "./tools.ts";

/** Elements of `data` with fields replaced by `changed`. */
const showing = (changed: (notification: Notification) => Readonly<Record<string, unknown>>): Replacement =>
  decide("item", (notification) => ({ ...notification, ...changed(notification) }));

const byDefault = (limit: number): Replacement =>
  change("limitFor", (usual, asked) => (asked === undefined ? limit : usual));

/** A page size other than requested. */
const limitInstead = (limit: (asked: number) => number): Replacement =>
  change("limitFor", (usual, asked) => (asked === undefined || usual === undefined ? usual : limit(usual)));

/** Defects in what the list shows, and how much (sections 2.3 and 4.4). */
export const notificationDefects = rows({
  "notifications.shape": {
    "item-create-time-without-milliseconds: createTime has no milliseconds.": showing(({ createTime }) => ({
      createTime: createTime.replace(/\.\d{3}Z$/, "Z"),
    })),
    "item-create-time-in-local-time: createTime is a local time with a UTC offset.": showing(
      ({ createTime }) => ({
        createTime: new Date(Date.parse(createTime) + 8 * 3_600_000).toISOString().replace("Z", "+08:00"),
      }),
    ),
    "item-create-time-with-space: createTime has a space between date and time, and no time zone.": showing(
      ({ createTime }) => ({ createTime: createTime.replace("T", " ").replace("Z", "") }),
    ),
    "item-create-time-as-number: createTime is a number of milliseconds.": showing(({ createTime }) => ({
      createTime: Date.parse(createTime),
    })),
    "item-id-without-dashes: Ids have no dashes.": showing(({ id }) => ({ id: id.replaceAll("-", "") })),
    "item-account-id-as-number: accountId is a number.": showing(({ accountId }) => ({
      accountId: parseInt(accountId.slice(0, 8), 16),
    })),
    "item-without-empty-fields: Empty fields are omitted.": decide("item", (notification) =>
      Object.fromEntries(Object.entries(notification).filter(([, value]) => value !== "")),
    ),
    "item-data-as-null: Empty data is null.": showing(({ data }) => ({ data: data === "" ? null : data })),
    "item-status-as-flag: status is a boolean.": showing(({ status }) => ({ status: status === "readed" })),
    "list-total-as-text: total is a string of digits.": [decide("total", String), "notifications.total"],
    "list-of-nothing-as-null: data is null if nothing matches.": change(
      "listFields",
      (fields, items, total) => (items.length === 0 ? { data: null, total } : fields),
    ),
    "list-of-nothing-without-total: total is missing if nothing matches.": change(
      "listFields",
      (fields, items, total) => (total === 0 ? { data: items } : fields),
    ),
    "list-one-item-unwrapped: data is the notification itself if there is only one.": change(
      "listFields",
      (fields, items, total) => (items.length === 1 ? { data: items[0], total } : fields),
    ),
    "item-without-remark: Items have no remark.": showing(() => ({ remark: undefined })),
    "item-create-time-without-zero-milliseconds: createTime omits the milliseconds if they are zero.":
      showing(({ createTime }) => ({ createTime: createTime.replace(".000Z", "Z") })),
    "item-data-null-at-times: data is null in about every fourth item.": showing(({ id, data }) => ({
      data: id.charCodeAt(0) % 4 === 0 ? null : data,
    })),
  },
  "notifications.default-limit": {
    "default-limit-9: Without limit a page holds 9.": byDefault(9),
    "default-limit-11: Without limit a page holds 11.": byDefault(11),
    "default-limit-20: Without limit a page holds 20.": byDefault(20),
    "default-limit-100: Without limit a page holds 100.": byDefault(100),
    "default-limit-20-when-filtered: Without limit, a page of a filtered list holds 20.": change(
      "limitFor",
      (usual, asked, context) => (asked === undefined && asksFor("id|accountId", context) ? 20 : usual),
    ),
    "default-limit-20-with-page: Without limit, a page holds 20 if page is given.": change(
      "limitFor",
      (usual, asked, context) => (asked === undefined && asksFor("page", context) ? 20 : usual),
    ),
    "default-limit-last-asked: Without limit, the limit of the previous request is used.": decisions(
      (sound) => {
        let last: string | undefined;
        return { limitFor: (asked, context) => sound.limitFor((last = asked ?? last), context) };
      },
    ),
  },
  "notifications.default-page": {
    "default-page-1: Without page, the second page is returned.": decisions((sound) => ({
      pageFor: (asked, context) => sound.pageFor(asked ?? "1", context),
    })),
    "default-page-last: Without page, the last page is returned.": decisions((sound) => ({
      pageFor: (asked, context) => (asked === undefined ? -1 : sound.pageFor(asked, context)),
      offsetOf: ({ limit, page }, matched) =>
        limit * (page < 0 ? Math.max(0, Math.ceil(matched / limit) - 1) : page),
    })),
    "default-page-1-when-filtered: Without page, the second page of a filtered list is returned.": change(
      "pageFor",
      (usual, asked, context) => (asked === undefined && asksFor("accountId", context) ? 1 : usual),
    ),
  },
  "notifications.limit": {
    "limit-and-one-more: A page holds one item more than requested.": decisions((sound) => ({
      readItems: (selection, offset, paging, context) =>
        sound.readItems(selection, offset, { ...paging, limit: paging.limit + 1 }, context),
    })),
    "limit-less-one: A page holds one item fewer than requested.": [
      decisions((sound) => ({
        readItems: (selection, offset, paging, context) =>
          sound.readItems(selection, offset, { ...paging, limit: paging.limit - 1 }, context),
      })),
      "notifications.pages-partition",
    ],
    "limit-ignored: A page always holds 10.": limitInstead(() => 10),
    "limit-five-at-least: A page holds at least five items.": limitInstead((limit) => Math.max(5, limit)),
    "limit-of-one-ignored: limit=1 is ignored.": limitInstead((limit) => (limit === 1 ? 10 : limit)),
    "limit-in-steps-of-five: A limit is rounded up to the next multiple of five.": limitInstead(
      (limit) => Math.ceil(limit / 5) * 5,
    ),
    "limit-ignored-when-filtered: A filtered list is returned whole, whatever the limit.": decisions(
      (sound) => ({
        readItems: (selection, offset, paging, context) =>
          sound.readItems(
            selection,
            offset,
            selection.parameters.length === 0 ? paging : { ...paging, limit: 1_000 },
            context,
          ),
      }),
    ),
    "limit-cuts-last-page: The last page is omitted unless it is full.": [
      decisions((sound) => ({
        readItems: async (selection, offset, paging, context) => {
          const items = await sound.readItems(selection, offset, paging, context);
          return items.length < paging.limit && offset > 0 ? [] : items;
        },
      })),
      "notifications.pages-partition",
    ],
    "limit-above-default-one-short: A limit above ten gives one item fewer.": limitInstead((limit) =>
      limit <= 10 ? limit : limit - 1,
    ),
    "limit-last-of-part-filled-page-lost: The last item of a partly filled page is missing.": decisions(
      (sound) => ({
        readItems: async (selection, offset, paging, context) => {
          const items = await sound.readItems(selection, offset, paging, context);
          return items.length < paging.limit ? items.slice(0, -1) : items;
        },
      }),
    ),
  },
});
