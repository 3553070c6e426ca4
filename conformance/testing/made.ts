import type { Push } from "../contract/push.ts";
import type { Answer } from "../world/exchange.ts";
import type { Breach } from "../contract/verdict.ts";
import { integer } from "fast-check";
import { DAY_MS } from "../contract/duration.ts";
import { between, type Entry } from "../judging/lifetimes/entries.ts";
import { keyCost } from "../lifetimes/ledger-file.ts";

/** A valid notification (section 2.3). */
export const madeNotification = {
  id: "0f8fad5b-d9cb-469f-a165-70867728950e",
  accountId: "7C9E6679-7425-40DE-944B-E07FC1F90AE7",
  createTime: "2024-05-06T07:08:09.123Z",
  businessType: "CreateGlobalAccount",
  businessStatus: "Passed",
  remark: "",
  data: "",
  status: "readed",
} as const;

/** The body of a pushed notification. */
export const notificationBody = (id: string, accountId: string): string =>
  JSON.stringify({ ...madeNotification, id, accountId });

/** A push that came at this moment and was answered at once, as in a receiver's journal. */
export const madePush = (
  atMs: number,
  { body = "{}", ...more }: Partial<Push> & Pick<Push, "action">,
): Push => ({
  firstByteMs: atMs,
  completeMs: atMs,
  answeredMs: atMs,
  uncertaintyMs: 0,
  method: "POST",
  path: "/service/webhook",
  headers: [["content-type", "application/json"]],
  body,
  bodyBytes: body.length,
  bodySha256: "same",
  bodyEncoding: "utf8",
  attempt: 1,
  connection: { id: 1, remotePort: 1, request: 1 },
  ...more,
});

/** An answer with status 200 and nothing in it, but for what is given. */
export const answer = (given: Partial<Answer> = {}): Answer => ({
  exchange: 1,
  status: 200,
  headers: [],
  text: "",
  json: undefined,
  ...given,
});

/** A breach, for tests in which it does not matter what was seen. */
export const breach = (more: Partial<Breach> = {}): Breach => ({
  expected: "right",
  actual: "wrong",
  evidence: [],
  reproduction: { seed: 1, replayed: { failures: 1, attempts: 1 } },
  ...more,
});

const [FIRST_HALF, HALVES, LAST] = [0xd800, 0x800, 0x10_ffff];

/** Every character except halves of pairs, as fast-check's own `binary`, which first makes a table of all of them, in seconds. */
export const anyCharacter = integer({ min: 0, max: LAST - HALVES }).map((index) =>
  String.fromCodePoint(index < FIRST_HALF ? index : index + HALVES),
);

/** A cheap key for tests that are not about ledger keys: milliseconds instead of a third of a second. */
export const quickKey: typeof keyCost = { ...keyCost, N: 2 ** 10 };

/** A refresh token in the ledger that is due in the last day of its 30, issued at 0; `more` replaces parts of it. */
export const entryOf = (more: Partial<Entry> = {}): Entry => ({
  id: "1",
  target: "https://staging.example client-1",
  rule: "refresh.lifetime",
  subject: "refreshToken",
  nth: 1,
  step: between(29 * DAY_MS, 30 * DAY_MS - 1_000, 30 * DAY_MS, 1_000),
  due: { earliestMs: 29 * DAY_MS, latestMs: 30 * DAY_MS - 1_000 },
  life: { issued: { earliestMs: 0, latestMs: 0 }, lifetimeMs: 30 * DAY_MS, isStated: false },
  issuedHereMs: 0,
  held: "{}",
  state: "waiting",
  ...more,
});
