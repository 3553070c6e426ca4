import type { Behaviour } from "../behaviour.ts";
import type { Notification } from "../notifications.ts";
import { type Defect, defect } from "../registry.ts";

/** Elements of `data` with some fields replaced by what `changed` gives. */
const showing =
  (changed: (notification: Notification) => Readonly<Record<string, unknown>>) =>
  (): Pick<Behaviour, "item"> => ({
    item: (notification) => ({ ...notification, ...changed(notification) }),
  });

/** The default page size where the query names none. */
const byDefault =
  (limit: number) =>
  (sound: Behaviour): Pick<Behaviour, "limitFor"> => ({
    limitFor: (asked, context) => (asked === undefined ? limit : sound.limitFor(asked, context)),
  });

/** Another page size than the one that was asked for. */
const limitInstead =
  (limit: (asked: number) => number) =>
  (sound: Behaviour): Pick<Behaviour, "limitFor"> => ({
    limitFor: (asked, context) => {
      const rightly = sound.limitFor(asked, context);
      return asked === undefined || rightly === undefined ? rightly : limit(rightly);
    },
  });

/** What the list shows, and how much of it (sections 2.3 and 4.4), gone wrong. */
export const notificationDefects = {
  "item-create-time-without-milliseconds": defect(
    "createTime has no milliseconds.",
    ["notifications.shape"],
    showing(({ createTime }) => ({ createTime: createTime.replace(/\.\d{3}Z$/, "Z") })),
  ),
  "item-create-time-in-local-time": defect(
    "createTime is in a local time with its offset.",
    ["notifications.shape"],
    showing(({ createTime }) => ({
      createTime: new Date(Date.parse(createTime) + 8 * 3_600_000).toISOString().replace("Z", "+08:00"),
    })),
  ),
  "item-create-time-with-space": defect(
    "createTime has a space between date and time, and no zone.",
    ["notifications.shape"],
    showing(({ createTime }) => ({ createTime: createTime.replace("T", " ").replace("Z", "") })),
  ),
  "item-create-time-as-number": defect(
    "createTime is a number of milliseconds.",
    ["notifications.shape"],
    showing(({ createTime }) => ({ createTime: Date.parse(createTime) })),
  ),
  "item-id-without-dashes": defect(
    "Ids have no dashes.",
    ["notifications.shape"],
    showing(({ id }) => ({ id: id.replaceAll("-", "") })),
  ),
  "item-account-id-as-number": defect(
    "accountId is a number.",
    ["notifications.shape"],
    showing(({ accountId }) => ({ accountId: parseInt(accountId.slice(0, 8), 16) })),
  ),
  "item-without-empty-fields": defect("Fields that are empty are left out.", ["notifications.shape"], () => ({
    item: (notification) =>
      Object.fromEntries(Object.entries(notification).filter(([, value]) => value !== "")),
  })),
  "item-data-as-null": defect(
    "Empty data is null.",
    ["notifications.shape"],
    showing(({ data }) => ({ data: data === "" ? null : data })),
  ),
  "item-status-as-flag": defect(
    "status is a boolean.",
    ["notifications.shape"],
    showing(({ status }) => ({ status: status === "readed" })),
  ),
  "list-total-as-text": defect(
    "total is a string of digits.",
    ["notifications.shape", "notifications.total"],
    () => ({ total: String }),
  ),
  "list-of-nothing-as-null": defect(
    "data is null when nothing matches.",
    ["notifications.shape"],
    (sound) => ({
      listFields: (items, total, context) =>
        items.length === 0 ? { data: null, total } : sound.listFields(items, total, context),
    }),
  ),
  "list-one-item-unwrapped": defect(
    "data is the notification itself when only one is given.",
    ["notifications.shape"],
    (sound) => ({
      listFields: (items, total, context) =>
        items.length === 1 ? { data: items[0], total } : sound.listFields(items, total, context),
    }),
  ),

  "default-limit-9": defect("Without limit a page holds 9.", ["notifications.default-limit"], byDefault(9)),
  "default-limit-11": defect(
    "Without limit a page holds 11.",
    ["notifications.default-limit"],
    byDefault(11),
  ),
  "default-limit-20": defect(
    "Without limit a page holds 20.",
    ["notifications.default-limit"],
    byDefault(20),
  ),
  "default-limit-100": defect(
    "Without limit a page holds 100.",
    ["notifications.default-limit"],
    byDefault(100),
  ),
  "default-limit-20-when-filtered": defect(
    "Without limit a page of a filtered list holds 20.",
    ["notifications.default-limit"],
    (sound) => ({
      limitFor: (asked, context) =>
        asked === undefined && /[?&](?:id|accountId)=/.test(context.from.url ?? "")
          ? 20
          : sound.limitFor(asked, context),
    }),
  ),
  "default-limit-20-with-page": defect(
    "Without limit a page holds 20 when a page is asked for.",
    ["notifications.default-limit"],
    (sound) => ({
      limitFor: (asked, context) =>
        asked === undefined && /[?&]page=/.test(context.from.url ?? "") ? 20 : sound.limitFor(asked, context),
    }),
  ),
  "default-page-1": defect(
    "Without page the second page is given.",
    ["notifications.default-page"],
    (sound) => ({ pageFor: (asked, context) => sound.pageFor(asked ?? "1", context) }),
  ),
  "default-page-last": defect(
    "Without page the last page is given.",
    ["notifications.default-page"],
    (sound) => ({
      pageFor: (asked, context) => (asked === undefined ? -1 : sound.pageFor(asked, context)),
      offsetOf: ({ limit, page }, matched) =>
        limit * (page < 0 ? Math.max(0, Math.ceil(matched / limit) - 1) : page),
    }),
  ),
  "default-page-1-when-filtered": defect(
    "Without page the second page of a filtered list is given.",
    ["notifications.default-page"],
    (sound) => ({
      pageFor: (asked, context) =>
        asked === undefined && /[?&]accountId=/.test(context.from.url ?? "")
          ? 1
          : sound.pageFor(asked, context),
    }),
  ),

  "limit-and-one-more": defect(
    "A page holds one item more than asked for.",
    ["notifications.limit"],
    (sound) => ({
      readItems: (selection, offset, paging, context) =>
        sound.readItems(selection, offset, { ...paging, limit: paging.limit + 1 }, context),
    }),
  ),
  "limit-less-one": defect(
    "A page holds one item less than asked for.",
    ["notifications.limit", "notifications.pages-partition"],
    (sound) => ({
      readItems: (selection, offset, paging, context) =>
        sound.readItems(selection, offset, { ...paging, limit: paging.limit - 1 }, context),
    }),
  ),
  "limit-ignored": defect(
    "A page always holds 10.",
    ["notifications.limit"],
    limitInstead(() => 10),
  ),
  "limit-five-at-least": defect(
    "A page holds five at least.",
    ["notifications.limit"],
    limitInstead((limit) => Math.max(5, limit)),
  ),
  "limit-of-one-ignored": defect(
    "limit=1 is taken for none.",
    ["notifications.limit"],
    limitInstead((limit) => (limit === 1 ? 10 : limit)),
  ),
  "limit-in-steps-of-five": defect(
    "A limit is rounded up to the next multiple of five.",
    ["notifications.limit"],
    limitInstead((limit) => Math.ceil(limit / 5) * 5),
  ),
  "limit-ignored-when-filtered": defect(
    "A filtered list is given whole, whatever the limit.",
    ["notifications.limit"],
    (sound) => ({
      readItems: (selection, offset, paging, context) =>
        sound.readItems(
          selection,
          offset,
          selection.parameters.length === 0 ? paging : { ...paging, limit: 1_000 },
          context,
        ),
    }),
  ),
  "limit-cuts-last-page": defect(
    "The last page is left out unless it is full.",
    ["notifications.limit", "notifications.pages-partition"],
    (sound) => ({
      readItems: async (selection, offset, paging, context) => {
        const items = await sound.readItems(selection, offset, paging, context);
        return items.length < paging.limit && offset > 0 ? [] : items;
      },
    }),
  ),
} satisfies Record<string, Defect>;
