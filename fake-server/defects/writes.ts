import type { Notification } from "../notifications.ts";
import { type Defect, defect } from "../registry.ts";

/** The list while notifications are created (section 4.4), and where it is found (section 9), gone wrong. */
export const writeDefects = {
  "writes-drop-oldest": defect(
    "Only the forty latest notifications are kept.",
    ["notifications.under-writes"],
    (sound) => ({
      matching: (filters, viewer, context) => {
        const { where, parameters } = sound.matching(filters, viewer, context);
        return {
          where: `${where} AND sequence > (SELECT max(sequence) FROM notifications) - 40`,
          parameters,
        };
      },
    }),
  ),
  "writes-repeat-item-on-page": defect(
    "A page is read in two halves, with time for a write between them, newest first.",
    ["notifications.under-writes"],
    (sound) => ({
      order: () => "sequence DESC",
      readItems: async (selection, offset, { limit, page }, context) => {
        const half = Math.ceil(limit / 2);
        const first = await sound.readItems(selection, offset, { limit: half, page }, context);
        await context.clock.pause(3);
        const second = await sound.readItems(
          selection,
          offset + half,
          { limit: limit - half, page },
          context,
        );
        return [...first, ...second];
      },
    }),
  ),
  "writes-counted-twice-at-first": defect(
    "For thirty milliseconds a new notification is counted twice.",
    ["notifications.under-writes"],
    (sound) => {
      let writtenAtMs = -Infinity;
      return {
        keepNotification: (notification, owner, service) => {
          writtenAtMs = service.clock.realMs();
          sound.keepNotification(notification, owner, service);
        },
        total: (matched, _items, _paging, { clock }) => matched + (clock.realMs() - writtenAtMs < 30 ? 1 : 0),
      };
    },
  ),
  "writes-hide-list": defect(
    "For five milliseconds after a write the list is empty.",
    ["notifications.under-writes"],
    (sound) => {
      let writtenAtMs = -Infinity;
      return {
        keepNotification: (notification, owner, service) => {
          writtenAtMs = service.clock.realMs();
          sound.keepNotification(notification, owner, service);
        },
        matching: (filters, viewer, context) =>
          context.clock.realMs() - writtenAtMs < 5
            ? { where: "FALSE", parameters: [] }
            : sound.matching(filters, viewer, context),
      };
    },
  ),
  "writes-seen-by-every-other-read": defect(
    "Every second read comes from a replica that is 300 milliseconds behind.",
    ["notifications.under-writes"],
    (sound) => {
      const writes: number[] = [];
      let reads = 0;
      return {
        keepNotification: (notification, owner, service) => {
          writes.push(service.clock.realMs());
          sound.keepNotification(notification, owner, service);
        },
        matching: (filters, viewer, context) => {
          const { where, parameters } = sound.matching(filters, viewer, context);
          reads += 1;
          if (reads % 2 === 0) return { where, parameters };
          const beforeMs = context.clock.realMs() - 300;
          const replicated = writes.filter((atMs) => atMs < beforeMs).length;
          return { where: `${where} AND sequence <= ${replicated}`, parameters };
        },
      };
    },
  ),
  "writes-lost-when-concurrent": defect(
    "Of two notifications created within a millisecond one replaces the other in the list.",
    ["notifications.under-writes"],
    (sound) => {
      let last = { atMs: -Infinity };
      return {
        keepNotification: (notification: Notification, owner, service) => {
          const atMs = service.clock.realMs();
          if (atMs - last.atMs > 1) sound.keepNotification(notification, owner, service);
          last = { atMs };
        },
      };
    },
  ),

  "list-without-version": defect(
    "The list is served at /open-api/notifications.",
    ["notifications.versioned-path"],
    (sound) => ({
      pathsOf: (operation) => (operation === "list" ? ["/open-api/notifications"] : sound.pathsOf(operation)),
    }),
  ),
  "list-under-version-2": defect(
    "The list is served at /open-api/v2/notifications.",
    ["notifications.versioned-path"],
    (sound) => ({
      pathsOf: (operation) =>
        operation === "list" ? ["/open-api/v2/notifications"] : sound.pathsOf(operation),
    }),
  ),
  "oauth-under-version": defect(
    "The OAuth endpoints are served under a version only.",
    ["notifications.versioned-path"],
    (sound) => ({
      pathsOf: (operation) =>
        sound.pathsOf(operation).map((path) => path.replace("/open-api/oauth/", "/open-api/v1/oauth/")),
    }),
  ),
  "refresh-under-version": defect(
    "The refresh endpoint is served under a version only.",
    ["notifications.versioned-path"],
    (sound) => ({
      pathsOf: (operation) =>
        operation === "refresh" ? ["/open-api/v1/oauth/refresh-token"] : sound.pathsOf(operation),
    }),
  ),
} satisfies Record<string, Defect>;
