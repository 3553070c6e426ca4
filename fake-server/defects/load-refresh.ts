import type { AccessRecord } from "../credentials.ts";
import { keepLatest, slowStep } from "../contention.ts";
import { type LoadDefect, loadDefect, type LoadShow } from "../registry.ts";

const refreshes: LoadShow = { scenario: "token", rate: 400, seconds: 10 };

/** So many refreshes go well before one can disturb another: more than any one rule of the gate makes at quick effort. */
const QUICK_REFRESHES = 180;

/** Refreshes (section 4.3) that go wrong where requests meet. */
export const loadRefreshDefects = {
  "load-refresh-shares-answer": loadDefect(
    "Once refreshes are slow, one beside another is answered with a whole token set, the refreshToken included.",
    ["refresh.returns-no-refresh-token"],
    refreshes,
    (sound) => {
      const refreshing = slowStep(15, QUICK_REFRESHES);
      return {
        takeRefreshToken: async (_record, { clock }) => {
          await refreshing.pass(clock);
          return true;
        },
        refreshFields: (...subject) =>
          refreshing.inside() > 0 ? sound.exchangeFields(...subject) : sound.refreshFields(...subject),
      };
    },
  ),
  "load-refresh-gets-token-of-another": loadDefect(
    "Once refreshes are slow, those that are under way together all get the access token of the first of them.",
    ["exchange.tokens-are-fresh"],
    refreshes,
    (sound) => {
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
    },
  ),
  "load-refresh-turned-away": loadDefect(
    "Once refreshes are slow, a fifth beside four others is refused as if its token were not valid.",
    ["refresh.reusable"],
    refreshes,
    () => {
      const refreshing = slowStep(40, QUICK_REFRESHES);
      return {
        takeRefreshToken: async (_record, { clock }) => {
          if (refreshing.inside() >= 4) return false;
          await refreshing.pass(clock);
          return true;
        },
      };
    },
  ),
  "load-refresh-tokens-evicted": loadDefect(
    "Only the 32 latest refresh tokens are kept.",
    ["refresh.reusable"],
    { scenario: "mixed", rate: 300, seconds: 15 },
    (sound) => ({
      keepRefreshToken: (record, context) => {
        sound.keepRefreshToken(record, context);
        keepLatest(context.credentials.refreshTokens, 32);
      },
    }),
  ),
} satisfies Record<string, LoadDefect>;
