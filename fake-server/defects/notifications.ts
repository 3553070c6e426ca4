import { DAY_MS, HOUR_MS } from "../../conformance/contract/duration.ts";
import type { Paging } from "../behaviour.ts";
import { asksFor, readingOn, showing } from "../changes.ts";
import type { Selection } from "../notifications.ts";
import { change, given, keeping, type Replacement, rows } from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound.ts";

const creating = (rewrite: (time: string) => string): Replacement => change("createTime", rewrite);

const byDefault = (limit: number): Replacement =>
  change("limitFor", (usual, asked) => (asked === undefined ? limit : usual));

/** A page size other than requested. */
const limitInstead = (limit: (asked: number) => number): Replacement =>
  change("limitFor", (usual, asked) => (asked === undefined || usual === undefined ? usual : limit(usual)));

/** Another default limit, or default page, in certain requests. */
const defaultIf = (decision: "limitFor" | "pageFor", parameter: string, value: number): Replacement =>
  change(decision, (usual, asked, context) =>
    asked === undefined && asksFor(parameter, context) ? value : usual,
  );

/** Pages of another size, which begin where they should. */
const pageSize = (limit: (paging: Paging, selection: Selection) => number): Replacement =>
  given("readItems", (selection, offset, paging, context) => [
    selection,
    offset,
    { ...paging, limit: limit(paging, selection) },
    context,
  ]);

/** The same moment on a twelve-hour clock. */
const inTwelveHours = (time: string): string =>
  time.replace(/T(\d\d)/, (_, hour: string) => `T${String(Number(hour) % 12 || 12).padStart(2, "0")}`);

/** The year that the week belongs to (ISO 8601): that of its Thursday. */
const yearOfWeek = (time: string): string => {
  const date = new Date(time);
  const weekday = date.getUTCDay() || 7;
  return new Date(date.getTime() + (4 - weekday) * DAY_MS).toISOString().slice(0, 4) + time.slice(4);
};

const dayOfYear = (time: string): string =>
  String(Math.floor((Date.parse(time) - Date.UTC(Number(time.slice(0, 4)), 0)) / DAY_MS) + 1);

/** Defects in what the list shows, and how much (sections 2.3 and 4.4). */
export const notificationDefects = {
  ...rows({
    "notifications.shape": {
      "item-create-time-without-milliseconds: createTime has no milliseconds.": showing(({ createTime }) => ({
        createTime: createTime.replace(/\.\d{3}Z$/, "Z"),
      })),
      "item-create-time-in-local-time: createTime is a local time with a UTC offset.": showing(
        ({ createTime }) => ({
          createTime: new Date(Date.parse(createTime) + 8 * HOUR_MS).toISOString().replace("Z", "+08:00"),
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
      "item-without-empty-fields: Empty fields are omitted.": {
        item: (notification) =>
          Object.fromEntries(Object.entries(notification).filter(([, value]) => value !== "")),
      },
      "item-data-as-null: Empty data is null.": showing(({ data }) => ({ data: data === "" ? null : data })),
      "item-status-as-flag: status is a boolean.": showing(({ status }) => ({ status: status === "readed" })),
      "item-of-yesterday-from-an-archive: A notification older than a day comes from an archive, without data.":
        showing(({ createTime }, { nowMs }) =>
          nowMs - Date.parse(createTime) > DAY_MS ? { data: null } : {},
        ),
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
      "item-of-long-page-without-remark: On a page of more than ten, items have no remark.": change(
        "listFields",
        (fields, items, total) =>
          items.length > 10
            ? { data: items.map((item) => Object.assign({}, item, { remark: undefined })), total }
            : fields,
      ),
      "item-beside-limit-and-page-without-status: With both limit and page, items have no businessStatus.":
        change("item", (item, _notification, context) =>
          asksFor("limit", context) && asksFor("page", context)
            ? Object.assign({}, item, { businessStatus: undefined })
            : item,
        ),
      "item-for-refreshed-token-without-remark: An accessToken of a refresh is shown items without remark.":
        change("item", (item, _notification, { credentials, from }) => {
          const token = String(from.headers[ACCESS_TOKEN_HEADER]);
          return credentials.accessTokens.get(token)?.refreshed === true
            ? Object.assign({}, item, { remark: undefined })
            : item;
        }),
      "item-create-time-without-zero-milliseconds: createTime omits the milliseconds if they are zero.":
        showing(({ createTime }) => ({ createTime: createTime.replace(".000Z", "Z") })),
      "item-data-null-at-times: data is null in about every fourth item.": showing(({ id, data }) => ({
        data: id.charCodeAt(0) % 4 === 0 ? null : data,
      })),
      "item-create-time-local-called-utc: createTime is a local time marked as UTC.": given(
        "createTime",
        (nowMs, service) => [nowMs + HOUR_MS, service],
      ),
      "item-create-time-of-twelve-hours: createTime is written on a twelve-hour clock.":
        creating(inTwelveHours),
      "item-create-time-without-zeros: createTime omits trailing zeros of its milliseconds.": creating(
        (time) => time.replace(/\.?0{1,3}Z$/, "Z"),
      ),
      "item-create-time-not-padded: createTime omits leading zeros of its milliseconds.": creating((time) =>
        time.replace(/\.0{1,2}(?=\d+Z$)/, "."),
      ),
      "item-create-time-hours-from-one: createTime counts the hours of a day from 1 to 24.": creating(
        (time) => time.replace("T00", "T24"),
      ),
      "item-create-time-month-for-minutes: createTime has the month in place of the minutes.": creating(
        (time) => time.replace(/T(\d\d):\d\d/, `T$1:${time.slice(5, 7)}`),
      ),
      "item-create-time-day-before-month: createTime has the day before the month.": creating((time) =>
        time.replace(/-(\d\d)-(\d\d)T/, "-$2-$1T"),
      ),
      "item-create-time-day-of-year: createTime has the day of the year in place of that of the month.":
        creating((time) => time.replace(/\d\dT/, `${dayOfYear(time).padStart(2, "0")}T`)),
      "item-create-time-in-summer-time: createTime is a local time that is an hour ahead of UTC in summer only.":
        given("createTime", (nowMs, service) => {
          const month = new Date(nowMs).getUTCMonth();
          return [month >= 3 && month <= 9 ? nowMs + HOUR_MS : nowMs, service];
        }),
    },
    "notifications.shape notifications.total": {
      "list-total-as-text: total is a string of digits.": { total: String },
    },
    "notifications.default-limit": {
      "default-limit-9: Without limit a page holds 9.": byDefault(9),
      "default-limit-11: Without limit a page holds 11.": byDefault(11),
      "default-limit-20: Without limit a page holds 20.": byDefault(20),
      "default-limit-100: Without limit a page holds 100.": byDefault(100),
      "default-limit-20-when-filtered: Without limit, a page of a filtered list holds 20.": defaultIf(
        "limitFor",
        "id|accountId",
        20,
      ),
      "default-limit-20-with-page: Without limit, a page holds 20 if page is given.": defaultIf(
        "limitFor",
        "page",
        20,
      ),
      "default-limit-last-asked: Without limit, the limit of the previous request is used.": keeping(
        (last?: string) => given("limitFor", (asked, context) => [(last = asked ?? last), context]),
      ),
    },
    "notifications.default-page": {
      "default-page-1: Without page, the second page is returned.": given("pageFor", (asked, context) => [
        asked ?? "1",
        context,
      ]),
      "default-page-last: Without page, the last page is returned.": (sound) => ({
        pageFor: (asked, context) => (asked === undefined ? -1 : sound.pageFor(asked, context)),
        offsetOf: ({ limit, page }, matched) =>
          limit * (page < 0 ? Math.max(0, Math.ceil(matched / limit) - 1) : page),
      }),
      "default-page-1-when-filtered: Without page, the second page of a filtered list is returned.":
        defaultIf("pageFor", "accountId", 1),
    },
    "notifications.limit": {
      "limit-and-one-more: A page holds one item more than requested.": pageSize(({ limit }) => limit + 1),
      "limit-ignored: A page always holds 10.": limitInstead(() => 10),
      "limit-five-at-least: A page holds at least five items.": limitInstead((limit) => Math.max(5, limit)),
      "limit-of-one-ignored: limit=1 is ignored.": limitInstead((limit) => (limit === 1 ? 10 : limit)),
      "limit-in-steps-of-five: A limit is rounded up to the next multiple of five.": limitInstead(
        (limit) => Math.ceil(limit / 5) * 5,
      ),
      "limit-ignored-when-filtered: A filtered list is returned whole, whatever the limit.": pageSize(
        ({ limit }, { parameters }) => (parameters.length === 0 ? limit : 1_000),
      ),
      "limit-above-default-one-short: A limit above ten gives one item fewer.": limitInstead((limit) =>
        limit <= 10 ? limit : limit - 1,
      ),
      "limit-last-of-part-filled-page-lost: The last item of a partly filled page is missing.": readingOn(
        (items, _selection, _offset, { limit }) => (items.length < limit ? items.slice(0, -1) : items),
      ),
      "limit-between-33-and-39-cut: A limit from 33 to 39 gives 32 items; a greater one gives all.":
        limitInstead((limit) => (limit >= 33 && limit <= 39 ? 32 : limit)),
      "limit-between-41-and-55-cut: A limit from 41 to 55 gives 40 items; a greater one gives all.":
        limitInstead((limit) => (limit >= 41 && limit <= 55 ? 40 : limit)),
      "limit-of-fifty-gives-forty-nine: A limit of 50 gives 49 items.": limitInstead((limit) =>
        limit === 50 ? 49 : limit,
      ),
      "limit-of-sixteen-gives-fifteen: A limit of 16 gives 15 items.": limitInstead((limit) =>
        limit === 16 ? 15 : limit,
      ),
    },
    "notifications.limit notifications.pages-partition": {
      "limit-less-one: A page holds one item fewer than requested.": pageSize(({ limit }) => limit - 1),
      "limit-cuts-last-page: The last page is omitted unless it is full.": readingOn(
        (items, _selection, offset, { limit }) => (items.length < limit && offset > 0 ? [] : items),
      ),
      "limit-cuts-last-page-if-full: The last page is omitted if it is full.": (sound) =>
        readingOn((items, selection, offset, { limit }, context) =>
          offset > 0 && offset + limit === sound.countMatches(selection, context) ? [] : items,
        )(sound),
    },
  }),
  // createTime is wrong within three months of this start only.
  ...rows(
    {
      "notifications.shape": {
        "item-create-time-of-week-year: createTime has the year of its week, which around New Year may be another.":
          creating(yearOfWeek),
        "item-create-time-december-of-next-year: A createTime in December has the next year.": creating(
          (time) => time.replace(/^(\d{4})-12/, (_, year: string) => `${Number(year) + 1}-12`),
        ),
      },
    },
    { startTimeMs: Date.UTC(2026, 9, 5, 15, 42, 31, 250) },
  ),
};
