import type { AccessRecord } from "../context.ts";
import { keepLatest, slowStep } from "../contention.ts";
import { decisions, loadRows, type LoadShow } from "../registry.ts";

const refreshes: LoadShow = { scenario: "token", rate: 400, seconds: 10 };

/** So many refreshes go well before one can disturb another: more than any one rule of the gate makes at quick effort. */
const QUICK_REFRESHES = 180;

/** Refreshes (section 4.3) that go wrong where requests meet. */
export const loadRefreshDefects = {
  ...loadRows(refreshes, {
    "refresh.returns-no-refresh-token": {
      "load-refresh-shares-answer: Once refreshes are slow, one beside another is answered with a whole token set, the refreshToken included.":
        decisions((sound, refreshing = slowStep(15, QUICK_REFRESHES)) => ({
          takeRefreshToken: async (_record, { clock }) => {
            await refreshing.pass(clock);
            return true;
          },
          refreshFields: (...subject) =>
            refreshing.inside() > 0 ? sound.exchangeFields(...subject) : sound.refreshFields(...subject),
        })),
    },
    "exchange.tokens-are-fresh": {
      "load-refresh-gets-token-of-another: Once refreshes are slow, those that are under way together all get the access token of the first of them.":
        decisions((sound) => {
          const refreshing = slowStep(15, QUICK_REFRESHES);
          let first: AccessRecord | undefined;
          return {
            takeRefreshToken: async (_record, { clock }) => {
              await refreshing.pass(clock);
              return true;
            },
            refreshFields: (record, ...rest) => {
              const latestAccess = first ?? record.latestAccess;
              first = refreshing.inside() > 0 ? latestAccess : undefined;
              return sound.refreshFields({ ...record, latestAccess }, ...rest);
            },
          };
        }),
    },
    "refresh.reusable": {
      "load-refresh-turned-away: Once refreshes are slow, a fifth beside four others is refused as if its token were not valid.":
        decisions((_sound, refreshing = slowStep(40, QUICK_REFRESHES)) => ({
          takeRefreshToken: async (_record, { clock }) => {
            if (refreshing.inside() >= 4) return false;
            await refreshing.pass(clock);
            return true;
          },
        })),
    },
  }),
  ...loadRows(
    { scenario: "mixed", rate: 300, seconds: 15 },
    {
      "refresh.reusable": {
        "load-refresh-tokens-evicted: Only the 32 latest refresh tokens are kept.": decisions((sound) => ({
          keepRefreshToken: (record, context) => {
            sound.keepRefreshToken(record, context);
            keepLatest(context.credentials.refreshTokens, 32);
          },
        })),
      },
    },
  ),
};
