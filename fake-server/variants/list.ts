import type { Behaviour } from "../behaviour.ts";
import { uuidOf } from "../random.ts";
import { type Variant, variant } from "../registry.ts";
import { wholeNumber } from "../sound/notifications.ts";

/** A greatest page size; what is above it is cut, or refused. */
const atMost =
  (maximum: number, above: "cut" | "refused") =>
  (sound: Behaviour): Pick<Behaviour, "limitFor"> => ({
    limitFor: (asked, context) => {
      const limit = asked === undefined ? undefined : wholeNumber(asked);
      if (limit === undefined || limit < 1) return sound.limitFor(asked, context);
      if (limit <= maximum) return limit;
      return above === "cut" ? maximum : undefined;
    },
  });

const inOrder = (order: string) => (): Pick<Behaviour, "order"> => ({ order: () => order });

/** Ids with the time in front, as UUID version 7 has it (RFC 9562 section 5.7). */
const timed = (nowMs: number, digits: string): string =>
  uuidOf(nowMs.toString(16).padStart(12, "0") + digits.slice(12), 7);

/** The same in the list and in a push: the texts are the notification's own. */
const textsOfEveryKind = {
  businessType: "AcceptPayment",
  businessStatus: "Rejected – nicht möglich",
  remark: 'näher "bei"\n\t日本語 🙂 \u2028 </script>',
  data: JSON.stringify({ amount: "12.00", nested: { list: [1, null] } }),
};

/** Listing notifications (sections 2.3 and 4.4) where the document leaves room. */
export const listVariants = {
  "limit-20-at-most": variant("A greater limit than 20 is cut to it.", atMost(20, "cut")),
  "limit-50-at-most": variant("A greater limit than 50 is cut to it.", atMost(50, "cut")),
  "limit-50-at-most-refused": variant("A greater limit than 50 is refused.", atMost(50, "refused")),
  "limit-100-at-most": variant("A greater limit than 100 is cut to it.", atMost(100, "cut")),
  "limit-1000-at-most": variant("A limit may be as great as 1000.", atMost(1_000, "refused")),
  "order-newest-first": variant("The newest notification comes first.", inOrder("sequence DESC")),
  "order-by-id": variant("Notifications are listed by id.", inOrder("id")),
  "order-by-account": variant("Notifications are listed by account.", inOrder("accountId, sequence")),

  "ids-of-version-1": variant("Ids are UUIDs of version 1.", () => ({
    mintNotificationId: (random) => uuidOf(random.hex(16), 1),
  })),
  "ids-of-version-7": variant("Ids are UUIDs of version 7.", () => ({
    mintNotificationId: (random, nowMs) => timed(nowMs, random.hex(16)),
  })),
  "ids-in-capitals": variant("Ids are UUIDs in capitals.", () => ({
    mintNotificationId: (random) => random.uuid().toUpperCase(),
  })),

  tenancy: variant(
    "A client sees its own notifications only; those of no client are the first one's.",
    (sound) => ({
      ownerOf: (clientId, { clients }) => clientId ?? [...clients.keys()][0] ?? "",
      matching: (filters, viewer, context) => {
        const { where, parameters } = sound.matching(filters, viewer, context);
        return { where: `${where} AND owner = ?`, parameters: [...parameters, viewer.clientId] };
      },
    }),
  ),
  "notifications-visible-later": variant(
    "A new notification is in the list two seconds after its event.",
    () => ({
      visibilityDelayMs: () => 2_000,
    }),
  ),
  "notifications-visible-later-in-real-time": variant(
    "A new notification is in the list a while after its event, by a clock that nobody can move.",
    (sound) => ({
      keepNotification: (...subject) => {
        const [, , { clock }] = subject;
        // The service may be gone by then, and its store with it.
        clock
          .pause(150)
          .then(() => sound.keepNotification(...subject))
          .catch(() => undefined);
      },
    }),
  ),
  "past-the-end-refused": variant("A page past the end is refused.", () => ({
    servesPage: ({ limit, page }, matched) => page === 0 || page * limit < matched,
  })),
  "paging-defaulted": variant("What is no limit or page counts as none.", (sound) => ({
    limitFor: (asked, context) => sound.limitFor(asked, context) ?? sound.limitFor(undefined, context),
    pageFor: (asked, context) => sound.pageFor(asked, context) ?? sound.pageFor(undefined, context),
  })),
  "limit-zero-gives-none": variant("limit=0 gives an empty page with the total.", (sound) => ({
    limitFor: (asked, context) => (asked === "0" ? 0 : sound.limitFor(asked, context)),
  })),
  "status-unread-and-readed": variant("Some notifications are unread.", () => ({
    item: (notification) => ({
      ...notification,
      status: /[0-7]$/.test(notification.id) ? "unread" : "readed",
    }),
  })),
  "status-readed-once-listed": variant("A notification is unread until it was listed.", () => {
    const listed = new Set<string>();
    return {
      item: (notification) => {
        const status = listed.has(notification.id) ? "readed" : "unread";
        listed.add(notification.id);
        return { ...notification, status };
      },
    };
  }),
  "texts-of-every-kind": variant(
    "The texts of a notification hold many scripts, quotes, lines and JSON.",
    () => ({
      item: (notification) => ({ ...notification, ...textsOfEveryKind }),
      pushBody: ({ notification }) => JSON.stringify({ ...notification, ...textsOfEveryKind }),
    }),
  ),
} satisfies Record<string, Variant>;
