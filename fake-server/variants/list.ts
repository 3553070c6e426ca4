import { DAY_MS } from "../../conformance/contract/duration.ts";
import { uuidOf } from "../../conformance/contract/random.ts";
import { eachItsOwn, narrowed, pushingFields, showing } from "../changes.ts";
import type { Notification } from "../notifications.ts";
import { change, given, keeping, type Replacement, together, variantRows } from "../registry.ts";
import { wholeNumber } from "../sound.ts";

/** A maximum page size; greater ones are cut, or refused. */
const atMost = (maximum: number, above: "cut" | "refused"): Replacement =>
  change("limitFor", (usual, asked) => {
    const limit = asked === undefined ? undefined : wholeNumber(asked);
    if (limit === undefined || limit < 1) return usual;
    if (limit <= maximum) return limit;
    return above === "cut" ? maximum : undefined;
  });

const inOrder = (order: string): Replacement => ({ order: () => order });

/** Ids with a leading time, like UUID version 7 (RFC 9562 section 5.7). */
const timed = (nowMs: number, digits: string): string =>
  uuidOf(nowMs.toString(16).padStart(12, "0") + digits.slice(12), 7);

const usualSpelling = (value: string | undefined): string | undefined =>
  value
    ?.replaceAll(/[{}-]/g, "")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
    .toLowerCase();

/** The same in the list and in a push: the texts are the notification's own. */
const textsOfEveryKind = {
  businessType: "AcceptPayment",
  businessStatus: "Rejected – nicht möglich",
  remark: 'näher "bei"\n\t日本語 🙂 \u2028 </script>',
  data: JSON.stringify({ amount: "12.00", nested: { list: [1, null] } }),
};

/** Other fields in the list and in pushes. */
const everywhere = (changed: (notification: Notification) => Partial<Notification>): Replacement =>
  together(showing(changed), pushingFields(changed));

/** Variants of listing notifications (sections 2.3 and 4.4). */
export const listVariants = variantRows({
  "limit-20-at-most: Limits above 20 are reduced to 20.": atMost(20, "cut"),
  "limit-50-at-most: Limits above 50 are reduced to 50.": atMost(50, "cut"),
  "limit-50-at-most-refused: Limits above 50 are refused.": atMost(50, "refused"),
  "limit-100-at-most: Limits above 100 are reduced to 100.": atMost(100, "cut"),
  "limit-1000-at-most: Limits above 1000 are refused.": atMost(1_000, "refused"),
  "order-newest-first: The newest notification comes first.": inOrder("sequence DESC"),
  "order-by-id: Notifications are listed by id.": inOrder("id"),
  "order-by-account: Notifications are listed by account.": inOrder("accountId, sequence"),
  "ids-of-version-1: Ids are UUIDs of version 1.": {
    mintNotificationId: (random) => uuidOf(random.hex(16), 1),
  },
  "ids-of-version-7: Ids are UUIDs of version 7.": {
    mintNotificationId: (random, nowMs) => timed(nowMs, random.hex(16)),
  },
  "create-times-of-whole-seconds: createTime is stored in a column that rounds to whole seconds.": given(
    "createTime",
    (nowMs, service) => [Math.round(nowMs / 1_000) * 1_000, service],
  ),
  "create-time-in-basic-format: createTime is in the basic format of ISO 8601, with a comma before its milliseconds.":
    change("createTime", (time) => time.replaceAll(/[-:]/g, "").replace(".", ",")),
  "create-time-with-offset: createTime ends with +00:00, which in ISO 8601 means the same as Z.": change(
    "createTime",
    (time) => time.replace("Z", "+00:00"),
  ),
  "ids-in-capitals: Ids are UUIDs in upper case.": {
    mintNotificationId: (random) => random.uuid().toUpperCase(),
  },
  "accounts-in-capitals: accountIds are given in upper case, whatever case they came in, and filters accept any.":
    together(
      // As a database gives a UUID whose type it knows (RFC 9562 section 4).
      everywhere(({ accountId }) => ({ accountId: accountId.toUpperCase() })),
      change("readFilters", ({ id, accountId }) => ({ id, accountId: accountId?.toLowerCase() })),
    ),
  "tenancy: A client sees only its own notifications; the first client also sees those of no client.":
    eachItsOwn,
  "notifications-listed-for-a-week: A notification is no longer listed once it is a week old.": change(
    "matching",
    (usual, _filters, _viewer, { nowMs }) =>
      narrowed(usual, "createTime > ?", new Date(nowMs - 7 * DAY_MS).toISOString()),
  ),
  "notifications-visible-later: A new notification is listed two seconds after its event.": {
    visibilityDelayMs: () => 2_000,
  },
  "notifications-visible-later-in-real-time: A new notification is listed a while later in real time.": (
    sound,
  ) => ({
    keepNotification: (...subject) => {
      const [, , { clock }] = subject;
      // The service and its store may be gone by then.
      clock
        .pause(150)
        .then(() => sound.keepNotification(...subject))
        .catch(() => undefined);
    },
  }),
  "past-the-end-refused: A page past the end is refused.": {
    servesPage: ({ limit, page }, matched) => page === 0 || page * limit < matched,
  },
  "list-of-nothing-refused: A list request that nothing matches is refused.": {
    servesPage: (_paging, matched) => matched > 0,
  },
  "paging-defaulted: An invalid limit or page counts as absent.": (sound) => ({
    limitFor: (asked, context) => sound.limitFor(asked, context) ?? sound.limitFor(undefined, context),
    pageFor: (asked, context) => sound.pageFor(asked, context) ?? sound.pageFor(undefined, context),
  }),
  "limit-zero-gives-none: limit=0 gives an empty page with the total.": change("limitFor", (usual, asked) =>
    asked === "0" ? 0 : usual,
  ),
  "status-unread-and-readed: Some notifications are unread.": showing(({ id }) => ({
    status: /[0-7]$/.test(id) ? "unread" : "readed",
  })),
  "status-readed-once-listed: A notification is unread until it was listed.": keeping(
    (listed = new Set<string>()) =>
      showing(({ id }) => {
        const status = listed.has(id) ? "readed" : "unread";
        listed.add(id);
        return { status };
      }),
  ),
  "texts-of-every-kind: The texts of a notification hold many scripts, quotes, lines and JSON.": everywhere(
    () => textsOfEveryKind,
  ),
  "limit-25-at-most-refused: Limits above 25 are refused.": atMost(25, "refused"),
  "ids-consecutive: Ids are consecutive, so that neighbours differ in one digit.": (_sound, minted = 0) => ({
    mintNotificationId: () => `00000000-0000-0000-0000-${(minted += 1).toString(16).padStart(12, "0")}`,
  }),
  "filters-in-every-spelling: Filters accept every spelling of a UUID.": change(
    "readFilters",
    ({ id, accountId }) => ({
      id: usualSpelling(id),
      accountId: usualSpelling(accountId),
    }),
  ),
  "filters-of-another-length-refused: Filter values that do not have the length of a UUID are refused.":
    change("parametersRefusal", (refusal, { values }) =>
      ["id", "accountId"].some((name) => (values.get(name)?.length ?? 36) !== 36)
        ? "query-malformed"
        : refusal,
    ),
  "notifications-visible-each-later: New notifications are listed after a varying delay of up to six seconds.":
    (_sound, events = 0) => ({ visibilityDelayMs: () => ((events += 1) % 5) * 1_500 }),
});
