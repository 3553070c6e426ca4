import type { Behaviour } from "../behaviour.ts";
import { keepLatest, slowStep } from "../contention.ts";
import type { AccessRecord, RefreshRecord } from "../context.ts";
import { afterwards, type LoadShow, rows } from "../registry.ts";

const refreshes: LoadShow = { scenario: "token", rate: 400, seconds: 10 };

/** Number of refreshes without interference: more than any single rule of the gate makes at quick effort. */
const QUICK_REFRESHES = 180;

const takenBy =
  (refreshing: ReturnType<typeof slowStep>): Behaviour["takeRefreshToken"] =>
  async (_record, { clock }) => {
    await refreshing.pass(clock);
    return true;
  };

/** Defects in refreshes (section 4.3) when requests meet. */
export const loadRefreshDefects = {
  ...rows(
    {
      "refresh.returns-no-refresh-token": {
        "load-refresh-shares-answer: Slow concurrent refreshes return the refreshToken, too.": (
          sound,
          refreshing = slowStep(15, QUICK_REFRESHES),
        ) => ({
          takeRefreshToken: takenBy(refreshing),
          refreshFields: (...subject) =>
            refreshing.inside() > 0 ? sound.exchangeFields(...subject) : sound.refreshFields(...subject),
        }),
      },
      "refresh.unknown": {
        "load-unknown-refresh-token-beside-others: While a slow refresh runs, an unknown refreshToken is treated as the last one used.":
          (sound, refreshing = slowStep(15, QUICK_REFRESHES), latest?: RefreshRecord) => ({
            findRefreshToken: (presented, context) =>
              sound.findRefreshToken(presented, context) ?? (refreshing.inside() > 0 ? latest : undefined),
            takeRefreshToken: (record, context) => {
              latest = record;
              return takenBy(refreshing)(record, context);
            },
          }),
      },
      "exchange.tokens-are-fresh": {
        "load-refresh-gets-token-of-another: Slow concurrent refreshes all get the first one's accessToken.":
          (sound, refreshing = slowStep(15, QUICK_REFRESHES), first?: AccessRecord) => ({
            takeRefreshToken: takenBy(refreshing),
            refreshFields: (record, ...rest) => {
              const latestAccess = first ?? record.latestAccess;
              first = refreshing.inside() > 0 ? latestAccess : undefined;
              return sound.refreshFields({ ...record, latestAccess }, ...rest);
            },
          }),
      },
      "refresh.reusable": {
        "load-refresh-turned-away: A fifth slow concurrent refresh is refused as if its token were invalid.":
          (_sound, refreshing = slowStep(40, QUICK_REFRESHES)) => ({
            takeRefreshToken: async (_record, { clock }) => {
              if (refreshing.inside() >= 4) return false;
              await refreshing.pass(clock);
              return true;
            },
          }),
      },
    },
    { shownBy: refreshes },
  ),
  ...rows(
    {
      "refresh.reusable": {
        "load-refresh-tokens-evicted: Only the 32 latest refresh tokens are kept.": afterwards(
          "keepRefreshToken",
          (_record, { credentials }) => keepLatest(credentials.refreshTokens, 32),
        ),
      },
    },
    { shownBy: { scenario: "mixed", rate: 300, seconds: 15 } },
  ),
};
