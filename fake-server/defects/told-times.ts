import { HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { decide, decisions, type Replacement, rows } from "../registry.ts";

/** The same moment on a twelve-hour clock. */
const inTwelveHours = (nowMs: number): string =>
  new Date(nowMs)
    .toISOString()
    .replace(/T(\d\d)/, (_, hour: string) => `T${String(Number(hour) % 12 || 12).padStart(2, "0")}`);

const rewriting = (rewrite: (time: string) => string): Replacement =>
  decide("createTime", (nowMs) => rewrite(new Date(nowMs).toISOString()));

/** Times that are well-formed and advance with the clock, but are wrong (sections 2.2, 2.3 and 4.1 to 4.3). */
export const toldTimeDefects = rows({
  "authorize.timestamp": {
    "authorize-timestamp-in-another-zone: The timestamp of authorize is an hour ahead.": decisions(
      (sound) => ({
        authorizeFields: (record, timestamp, context) =>
          sound.authorizeFields(record, Number(timestamp) + HOUR_MS, context),
      }),
    ),
  },
  "exchange.token-set": {
    "exchange-timestamp-of-its-code: The timestamp of an exchange is when its code was issued.": decisions(
      (sound) => ({
        exchangeFields: (tokens, timestamp, expiresIn, context) => {
          const codes = [...context.credentials.codes.values()];
          const code = codes.findLast(({ grant }) => grant === tokens.grant);
          return sound.exchangeFields(tokens, code?.issuedAtMs ?? timestamp, expiresIn, context);
        },
      }),
    ),
    "expires-in-as-moment: expiresIn is the moment at which the accessToken ends, in seconds since 1970.": [
      decide("expiresIn", (lifetimeMs, { nowMs }) => Math.floor((nowMs + lifetimeMs) / SECOND_MS)),
      "refresh.token-set",
    ],
  },
  "refresh.token-set": {
    "refresh-timestamp-of-its-grant: The timestamp of a refresh is when its refreshToken was issued.":
      decisions((sound) => ({
        refreshFields: (tokens, _timestamp, expiresIn, context) =>
          sound.refreshFields(tokens, tokens.issuedAtMs, expiresIn, context),
      })),
  },
  "notifications.shape": {
    "item-create-time-local-called-utc: createTime is a local time, written as if it were UTC.": decisions(
      (sound) => ({ createTime: (nowMs, service) => sound.createTime(nowMs + HOUR_MS, service) }),
    ),
    "item-create-time-of-twelve-hours: createTime is written on a twelve-hour clock.": decide(
      "createTime",
      inTwelveHours,
    ),
    "item-create-time-without-zeros: createTime ends with the last digit of its milliseconds that is not zero.":
      rewriting((time) => time.replace(/\.?0{1,3}Z$/, "Z")),
    "item-create-time-not-padded: The milliseconds of createTime are written without zeros in front.":
      rewriting((time) => time.replace(/\.0{1,2}(?=\d+Z$)/, ".")),
  },
});
