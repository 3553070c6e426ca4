import { DAY_MS, HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { decide, decisions, type Defect, type Replacement, rows } from "../registry.ts";

/** The same moment on a twelve-hour clock. */
const inTwelveHours = (nowMs: number): string =>
  new Date(nowMs)
    .toISOString()
    .replace(/T(\d\d)/, (_, hour: string) => `T${String(Number(hour) % 12 || 12).padStart(2, "0")}`);

const rewriting = (rewrite: (time: string) => string): Replacement =>
  decide("createTime", (nowMs) => rewrite(new Date(nowMs).toISOString()));

/** The year that the week belongs to (ISO 8601): that of its Thursday. */
const yearOfWeek = (time: string): string => {
  const date = new Date(time);
  const weekday = date.getUTCDay() || 7;
  return new Date(date.getTime() + (4 - weekday) * DAY_MS).toISOString().slice(0, 4) + time.slice(4);
};

const dayOfYear = (time: string): string =>
  String(Math.floor((Date.parse(time) - Date.UTC(Number(time.slice(0, 4)), 0)) / DAY_MS) + 1);

/** createTime is wrong within three months of this start only. */
const inAutumn = (summary: string, rewrite: (time: string) => string): Defect => ({
  summary,
  breaks: ["notifications.shape"],
  startTimeMs: Date.UTC(2026, 9, 5, 15, 42, 31, 250),
  replaces: rewriting(rewrite),
});

/** Times that are well-formed and advance with the clock, but are wrong (sections 2.2, 2.3 and 4.1 to 4.3). */
const anyTimeDefects = rows({
  "authorize.timestamp": {
    "authorize-timestamp-in-another-zone: The timestamp of authorize is an hour ahead.": decisions(
      (sound) => ({
        authorizeFields: (record, timestamp, context) =>
          sound.authorizeFields(record, Number(timestamp) + HOUR_MS, context),
      }),
    ),
  },
  "exchange.token-set": {
    "exchange-timestamp-of-its-code: The timestamp of an exchange is the time at which its code was issued.":
      decisions((sound) => ({
        exchangeFields: (tokens, timestamp, expiresIn, context) => {
          const codes = [...context.credentials.codes.values()];
          const code = codes.findLast(({ grant }) => grant === tokens.grant);
          return sound.exchangeFields(tokens, code?.issuedAtMs ?? timestamp, expiresIn, context);
        },
      })),
    "expires-in-as-moment: expiresIn is the moment at which the accessToken expires, in seconds since 1970.":
      [
        decide("expiresIn", (lifetimeMs, { nowMs }) => Math.floor((nowMs + lifetimeMs) / SECOND_MS)),
        "refresh.token-set",
      ],
  },
  "refresh.token-set": {
    "refresh-timestamp-of-its-grant: The timestamp of a refresh is the time at which its refreshToken was issued.":
      decisions((sound) => ({
        refreshFields: (tokens, _timestamp, expiresIn, context) =>
          sound.refreshFields(tokens, tokens.issuedAtMs, expiresIn, context),
      })),
  },
  "notifications.shape": {
    "item-create-time-local-called-utc: createTime is a local time marked as UTC.": decisions((sound) => ({
      createTime: (nowMs, service) => sound.createTime(nowMs + HOUR_MS, service),
    })),
    "item-create-time-of-twelve-hours: createTime is written on a twelve-hour clock.": decide(
      "createTime",
      inTwelveHours,
    ),
    "item-create-time-without-zeros: createTime omits trailing zeros of its milliseconds.": rewriting(
      (time) => time.replace(/\.?0{1,3}Z$/, "Z"),
    ),
    "item-create-time-not-padded: createTime omits leading zeros of its milliseconds.": rewriting((time) =>
      time.replace(/\.0{1,2}(?=\d+Z$)/, "."),
    ),
    "item-create-time-hours-from-one: createTime counts the hours of a day from 1 to 24.": rewriting((time) =>
      time.replace("T00", "T24"),
    ),
    "item-create-time-month-for-minutes: createTime has the month in place of the minutes.": rewriting(
      (time) => time.replace(/T(\d\d):\d\d/, `T$1:${time.slice(5, 7)}`),
    ),
    "item-create-time-day-before-month: createTime has the day before the month.": rewriting((time) =>
      time.replace(/-(\d\d)-(\d\d)T/, "-$2-$1T"),
    ),
    "item-create-time-day-of-year: createTime has the day of the year in place of that of the month.":
      rewriting((time) => time.replace(/\d\dT/, `${dayOfYear(time).padStart(2, "0")}T`)),
    "item-create-time-in-summer-time: createTime is a local time that is an hour ahead of UTC in summer only.":
      decisions((sound) => ({
        createTime: (nowMs, service) => {
          const month = new Date(nowMs).getUTCMonth();
          return sound.createTime(month >= 3 && month <= 9 ? nowMs + HOUR_MS : nowMs, service);
        },
      })),
  },
});

export const toldTimeDefects: Readonly<Record<string, Defect>> = {
  ...anyTimeDefects,
  "item-create-time-of-week-year": inAutumn(
    "createTime has the year of its week, which around New Year may be another.",
    yearOfWeek,
  ),
  "item-create-time-december-of-next-year": inAutumn("A createTime in December has the next year.", (time) =>
    time.replace(/^(\d{4})-12/, (_, year: string) => `${Number(year) + 1}-12`),
  ),
};
