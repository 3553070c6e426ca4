import { type Answer, type Fields, jsonAnswer } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { stranger, keepLatest, pool, slowStep } from "../changes.ts";
import type { CodeRecord, AccessRecord, RefreshRecord } from "../context.ts";
import { afterwards, type LoadDefect, type LoadShow, rows } from "../registry.ts";

const tokens: LoadShow = { scenario: "token", rate: 400, seconds: 10 };

/** Number of requests without interference: more than any single rule of the gate makes at quick effort. */
const QUICK = { authorizations: 200, exchanges: 250, tokens: 400 };

const tokenOf = (number: number): string =>
  Buffer.from(String(number).padStart(24, "0")).toString("base64url");

/** Redemptions that take time once they are done. */
const redeemedBy =
  (redemption: ReturnType<typeof slowStep>, { takeCode }: Behaviour): Behaviour["takeCode"] =>
  async (record, context) => {
    const taken = await takeCode(record, context);
    await redemption.pass(context.clock);
    return taken;
  };

/** Answers of authorize that are rewritten after a slow step. */
const answeredBy =
  (
    logging: ReturnType<typeof slowStep>,
    rewrite: (answer: Answer) => object | undefined,
  ): Behaviour["finish"] =>
  async (answer, { operation, clock }) => {
    if (operation !== "authorize" || answer.status !== 200) return answer;
    await logging.pass(clock);
    return jsonAnswer(200, rewrite(answer));
  };

/** Defects in codes and token sets (sections 2.1, 2.2, 4.1 and 4.2) when requests meet. */
export const loadTokenDefects: Readonly<Record<string, LoadDefect>> = {
  ...rows(
    {
      "code.single-use-under-race": {
        "load-code-race-behind-full-pool: After 250 codes, slow redemptions check a code before they wait for a database connection.":
          (_sound, connections = pool(3), writing = slowStep(20, QUICK.exchanges)) => ({
            takeCode: async (record, { nowMs, clock }) => {
              if (record.usedAtMs !== undefined) return false;
              await connections.take();
              record.usedAtMs = nowMs;
              await writing.pass(clock);
              connections.giveBack();
              return true;
            },
          }),
      },
      "code.single-use": {
        "load-used-marks-overwritten: Concurrent redemptions overwrite each other's marks in one large shared record.":
          (
            _sound,
            used: readonly string[] = [],
            underWay = new Set<string>(),
            writing = slowStep(10, QUICK.exchanges),
          ) => ({
            takeCode: async ({ code }, { clock }) => {
              if (underWay.has(code) || used.includes(code)) return false;
              underWay.add(code);
              const before = used;
              await writing.pass(clock);
              used = [...before.slice(-500), code];
              underWay.delete(code);
              return true;
            },
          }),
        "load-used-marks-evicted: Used codes are remembered in a cache of 300.": (
          _sound,
          used = new Map<string, true>(),
        ) => ({
          takeCode: ({ code }) => {
            if (used.has(code)) return false;
            used.set(code, true);
            keepLatest(used, 300);
            return true;
          },
        }),
      },
      "exchange.tokens-are-fresh": {
        "load-tokens-repeat-after-a-thousand: The generator of access tokens starts over after 1,024.": (
          _sound,
          count = 0,
        ) => ({ mintAccessToken: () => tokenOf((count = (count + 1) % 1_024)) }),
      },
      "authorize.echoes-state": {
        "load-state-of-latest-request: Slow concurrent answers share one variable for the state.": (
          sound,
          state = "",
          logging = slowStep(5, QUICK.authorizations),
        ) => ({
          authorizeFields: (record, timestamp, context) => {
            ({ state } = record);
            return sound.authorizeFields(record, timestamp, context);
          },
          finish: answeredBy(logging, ({ body }) => ({ ...(JSON.parse(body) as object), state })),
        }),
        "load-answers-swapped: Slow concurrent authorizations get each other's answers in reverse order.": (
          _sound,
          waiting: Fields[] = [],
          logging = slowStep(5, QUICK.authorizations),
        ) => ({
          authorizeFields: ({ state, code }, timestamp) => {
            waiting.push({ timestamp, state, code });
            return {};
          },
          finish: answeredBy(logging, () => waiting.pop()),
        }),
      },
      "exchange.authenticates-client": {
        "load-wrong-secret-beside-others: While a slow redemption runs, the secret is not checked.": (
          sound,
          redemption = slowStep(20, QUICK.exchanges),
        ) => ({
          authenticateClient: (clientId, clientSecret, clients) =>
            redemption.inside() > 0 && typeof clientId === "string"
              ? clients.get(clientId)
              : sound.authenticateClient(clientId, clientSecret, clients),
          takeCode: redeemedBy(redemption, sound),
        }),
      },
      "access.required": {
        "load-open-beside-others: While slow exchanges run, the list accepts any token.": (
          sound,
          redemption = slowStep(20, QUICK.exchanges),
        ) => ({
          takeCode: redeemedBy(redemption, sound),
          findAccessToken: (presented, context) =>
            sound.findAccessToken(presented, context) ??
            (redemption.inside() > 0 ? stranger(context) : undefined),
        }),
      },
      "code.unknown": {
        "load-unknown-code-beside-others: While a slow exchange runs, an unknown code gets tokens.": (
          sound,
          redemption = slowStep(20, QUICK.exchanges),
          latest?: CodeRecord,
        ) => ({
          findCode: (presented, context) =>
            sound.findCode(presented, context) ??
            (redemption.inside() > 0 && latest !== undefined ? { ...latest } : undefined),
          takeCode: (record, context) => {
            latest = { ...record };
            return redeemedBy(redemption, sound)(record, context);
          },
        }),
      },
      "exchange.access-token-works refresh.access-token-works": {
        "load-access-token-written-late: After the first 400, access tokens are stored in groups of eight.": (
          sound,
          issued = 0,
          unwritten: (() => void)[] = [],
        ) => ({
          keepAccessToken: (record, context) => {
            issued += 1;
            if (issued <= QUICK.tokens) return sound.keepAccessToken(record, context);
            unwritten.push(() => sound.keepAccessToken(record, context));
            if (unwritten.length === 8) for (const write of unwritten.splice(0)) write();
          },
        }),
      },
    },
    { shownBy: tokens },
  ),
  "load-busy-with-status-200": {
    summary: "After 200 authorizations, every fifth is answered with status 200 and an error.",
    breaks: [],
    misses: "authorize errors",
    shownBy: tokens,
    replaces: (_sound, count = 0) => ({
      finish: (answer, { operation }) => {
        if (operation !== "authorize") return answer;
        count += 1;
        return count <= QUICK.authorizations || count % 5 !== 0 ? answer : jsonAnswer(200, { error: "busy" });
      },
    }),
  },
  ...rows(
    {
      "authorize.code-is-fresh": {
        "load-codes-of-eighteen-bits: There are only 262,144 different codes.": {
          mintCode: (_client, _state, { random }) => tokenOf(random.uint32() % 2 ** 18),
        },
      },
    },
    { shownBy: { ...tokens, rate: 600, seconds: 14 } },
  ),
  ...rows(
    {
      "access.lifetime": {
        "load-access-tokens-evicted: Only the 48 latest access tokens are kept.": afterwards(
          "keepAccessToken",
          (_record, { credentials }) => keepLatest(credentials.accessTokens, 48),
        ),
      },
    },
    { shownBy: { scenario: "mixed", rate: 300, seconds: 15 } },
  ),
};

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
