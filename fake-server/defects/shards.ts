import { DAY_MS, MINUTE_MS } from "../../conformance/contract/duration.ts";
import type { Context } from "../context.ts";
import { change, decisions, type Replacement, rows } from "../registry.ts";

/** Spreads records over eight stores in turn; those in the last one end `laterMs` later than they should. */
const eightStores = (laterMs: number) => {
  const inLast = new WeakSet<object>();
  let kept = 0;
  return {
    keep: (record: object): void => {
      kept += 1;
      if (kept % 8 === 0) inLast.add(record);
    },
    timeFor: (record: object, context: Context): Context =>
      inLast.has(record) ? { ...context, nowMs: context.nowMs - laterMs } : context,
  };
};

const codesOfStoreEnd = (laterMs: number): Replacement =>
  decisions((sound, stores = eightStores(laterMs)) => ({
    keepCode: (record, context) => {
      stores.keep(record);
      sound.keepCode(record, context);
    },
    codeIsAlive: (record, context) => sound.codeIsAlive(record, stores.timeFor(record, context)),
  }));

const accessTokensOfStoreEnd = (laterMs: number): Replacement =>
  decisions((sound, stores = eightStores(laterMs)) => ({
    keepAccessToken: (record, context) => {
      stores.keep(record);
      sound.keepAccessToken(record, context);
    },
    accessTokenIsAlive: (record, context) =>
      sound.accessTokenIsAlive(record, stores.timeFor(record, context)),
  }));

const refreshTokensOfStoreEnd = (laterMs: number): Replacement =>
  decisions((sound, stores = eightStores(laterMs)) => ({
    keepRefreshToken: (record, context) => {
      stores.keep(record);
      sound.keepRefreshToken(record, context);
    },
    refreshTokenIsAlive: (record, context) =>
      sound.refreshTokenIsAlive(record, stores.timeFor(record, context)),
  }));

/** Defects of some credentials only: those in one of several stores, or issued for certain parameters. */
export const shardDefects = rows({
  "code.lifetime": {
    "code-of-one-store-dies-early: Every eighth code works for nine minutes.": codesOfStoreEnd(-MINUTE_MS),
    "code-of-one-store-lives-longer: Every eighth code works for eleven minutes.": codesOfStoreEnd(MINUTE_MS),
    "code-for-shortest-state-dies-early: A code for a state of one character works for nine minutes.": change(
      "codeIsAlive",
      (isAlive, { state, issuedAtMs }, { nowMs }) =>
        isAlive && (state.length > 1 || nowMs - issuedAtMs < 9 * MINUTE_MS),
    ),
  },
  "access.lifetime": {
    "access-token-of-one-store-dies-early: Every eighth accessToken ends a minute early.":
      accessTokensOfStoreEnd(-MINUTE_MS),
    "access-token-of-one-store-lives-longer: Every eighth accessToken works a minute longer.":
      accessTokensOfStoreEnd(MINUTE_MS),
  },
  "refresh.lifetime": {
    "refresh-token-of-one-store-dies-early: Every eighth refreshToken works for 29 days.":
      refreshTokensOfStoreEnd(-DAY_MS),
    "refresh-token-of-one-store-lives-longer: Every eighth refreshToken works for 31 days.":
      refreshTokensOfStoreEnd(DAY_MS),
  },
});
