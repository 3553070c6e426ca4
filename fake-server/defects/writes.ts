import { MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Fields } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { narrowed, remembered } from "../changes.ts";
import type { Context, Operation } from "../context.ts";
import { afterwards, change, everyNth, type Replacement, rows } from "../registry.ts";

/** Stores notifications as `sound` does, with the time. */
const stamped = (sound: Behaviour) => {
  const writtenAtMs: number[] = [];
  const keepNotification: Behaviour["keepNotification"] = (notification, owner, service) => {
    writtenAtMs.push(service.clock.realMs());
    sound.keepNotification(notification, owner, service);
  };
  const isWithin = (ms: number, { clock }: Pick<Context, "clock">): boolean =>
    clock.realMs() - (writtenAtMs.at(-1) ?? -Infinity) < ms;
  return { keepNotification, writtenAtMs, isWithin };
};

/** Answers to list requests with the same key are kept for a while. */
const listKeptFor =
  (ms: number, keyOf: (context: Context) => string | undefined): Replacement =>
  (sound, kept = new Map<string, { readonly fields: Fields; readonly atMs: number }>()) => ({
    listFields: (items, total, context) => {
      const key = keyOf(context);
      const known = kept.get(key ?? "");
      if (known !== undefined && context.nowMs - known.atMs < ms) return known.fields;
      const fields = sound.listFields(items, total, context);
      if (key !== undefined) kept.set(key, { fields, atMs: context.nowMs });
      return fields;
    },
  });

const servingAt = (served: Operation, path: string): Replacement =>
  change("pathsOf", (usual, operation) => (operation === served ? [path] : usual));

/** Defects in the list while notifications are created (section 4.4), and in where it is served (section 9). */
export const writeDefects = rows({
  "notifications.under-writes": {
    "writes-drop-oldest: Only the forty latest notifications are kept.": change("matching", (usual) =>
      narrowed(usual, "sequence > (SELECT max(sequence) FROM notifications) - 40"),
    ),
    "writes-repeat-item-on-page: A page is read in two halves, newest first, with writes in between.": (
      sound,
    ) => ({
      order: () => "sequence DESC",
      readItems: async (selection, offset, { limit, page }, context) => {
        const half = Math.ceil(limit / 2);
        const first = await sound.readItems(selection, offset, { limit: half, page }, context);
        await context.clock.pause(3);
        const rest = { limit: limit - half, page };
        return [...first, ...(await sound.readItems(selection, offset + half, rest, context))];
      },
    }),
    "writes-counted-twice-at-first: For thirty milliseconds, a new notification is counted twice.": (
      sound,
    ) => {
      const { keepNotification, isWithin } = stamped(sound);
      return {
        keepNotification,
        total: (matched, _items, _paging, context) => matched + (isWithin(30, context) ? 1 : 0),
      };
    },
    "writes-hide-list: For five milliseconds after a write, the list is empty.": (sound) => {
      const { keepNotification, isWithin } = stamped(sound);
      return {
        keepNotification,
        matching: (filters, viewer, context) =>
          isWithin(5, context)
            ? { where: "FALSE", parameters: [] }
            : sound.matching(filters, viewer, context),
      };
    },
    "writes-seen-by-every-other-read: Every second read comes from a replica 300 ms behind.": (
      sound,
      reads = 0,
    ) => {
      const { keepNotification, writtenAtMs } = stamped(sound);
      return {
        keepNotification,
        matching: (filters, viewer, context) => {
          const usual = sound.matching(filters, viewer, context);
          const beforeMs = context.clock.realMs() - 300;
          const replicated = writtenAtMs.filter((atMs) => atMs < beforeMs).length;
          return (reads += 1) % 2 === 0 ? usual : narrowed(usual, `sequence <= ${replicated}`);
        },
      };
    },
    "writes-lost-when-concurrent: Of two notifications within ten milliseconds, one replaces the other.": (
      sound,
      lastMs = -Infinity,
    ) => ({
      keepNotification: (notification, owner, service) => {
        const atMs = service.clock.realMs();
        if (atMs - lastMs > 10) sound.keepNotification(notification, owner, service);
        lastMs = atMs;
      },
    }),
    "writes-doubled-every-tenth: Every tenth event is delivered twice by the queue, and stored twice.":
      everyNth(
        10,
        afterwards("keepNotification", (notification, owner, service) =>
          service.notifications.add({ ...notification, id: service.random.uuid(), owner }),
        ),
      ),
    "total-kept-for-ever: total is counted once and never again.": (
      sound,
      kept = new Map<string, number>(),
    ) => ({
      countMatches: (selection, context) =>
        remembered(kept, selection.parameters.join(), () => sound.countMatches(selection, context)),
    }),
    "list-of-one-kept-for-five-seconds: A list with limit=1 is served from a cache for five seconds.":
      listKeptFor(5 * SECOND_MS, ({ from: { url = "" } }) =>
        /[?&]limit=1(?:&|$)/.test(url) ? url : undefined,
      ),
    "list-kept-for-a-minute-for-each-token: For a minute, a token gets the same answer to the same request.":
      listKeptFor(MINUTE_MS, ({ from }) =>
        JSON.stringify([from.headers["x-service-access-token"], from.url]),
      ),
    "list-of-nothing-kept-for-a-minute: That nothing matches a list request is remembered for a minute.": (
      sound,
      nothingAtMs = new Map<string, number>(),
    ) => ({
      listFields: (items, total, context) => {
        const query = context.from.url ?? "";
        if (total === 0) nothingAtMs.set(query, context.nowMs);
        const isKept = context.nowMs - (nothingAtMs.get(query) ?? -Infinity) < MINUTE_MS;
        return isKept ? sound.listFields([], 0, context) : sound.listFields(items, total, context);
      },
    }),
    "writes-lose-every-fifth: Every fifth notification is lost.": everyNth(5, {
      keepNotification: () => undefined,
    }),
  },
  "notifications.versioned-path": {
    "list-without-version: The list is served at /open-api/notifications.": servingAt(
      "list",
      "/open-api/notifications",
    ),
    "list-under-version-2: The list is served at /open-api/v2/notifications.": servingAt(
      "list",
      "/open-api/v2/notifications",
    ),
    "oauth-under-version: The OAuth endpoints are only served under a version.": change("pathsOf", (usual) =>
      usual.map((path) => path.replace("/open-api/oauth/", "/open-api/v1/oauth/")),
    ),
    "refresh-under-version: The refresh endpoint is only served under a version.": servingAt(
      "refresh",
      "/open-api/v1/oauth/refresh-token",
    ),
  },
});
