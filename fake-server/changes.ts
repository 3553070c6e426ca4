import type { Behaviour, Filters, Replaces } from "./behaviour.ts";
import type { AccessRecord, Context, Service, Delivery, PushOutcome, PushRequest } from "./context.ts";
import type { Notification, Selection } from "./notifications.ts";
import { randomFrom, type RandomSource } from "./random.ts";
import { change, onlyIf, type Replacement, together } from "./registry.ts";
import { statusOf } from "./sound.ts";
import type { ServiceClock } from "./clock.ts";

export const lastOf = <R>(records: ReadonlyMap<string, R>): R | undefined => [...records.values()].at(-1);

/** A JSON value converted as in a loosely typed language: an array of one string is that string. */
export const asText = (value: unknown): string =>
  Array.isArray(value) ? value.map(asText).join(",") : String(value);

/** Whether a presented value counts as absent. */
export const isNothing = (value: unknown): boolean => value === undefined || value === null || value === "";

interface Calls {
  get(key: unknown): number | undefined;
  set(key: unknown, count: number): unknown;
}

/** Counts the calls for each record, or in a Map for each text: 1 for the first. */
export const counted =
  (calls: Calls = new WeakMap<object, number>()) =>
  (key: unknown): number => {
    const count = (calls.get(key) ?? 0) + 1;
    calls.set(key, count);
    return count;
  };

const TICK_MS = 20;
/** Randomness that is redrawn every few milliseconds of real time. */
export const drawnBy = ({ clock }: Pick<Service, "clock">): RandomSource =>
  randomFrom(Math.floor(clock.realMs() / TICK_MS));

export const remembered = <V>(kept: Map<string, V>, key: string, make: () => V): V => {
  const value = kept.get(key) ?? make();
  kept.set(key, value);
  return value;
};

/** Whether a request's query names the parameter, or one of several separated by "|". */
export const asksFor = (name: string, { from }: Context): boolean =>
  new RegExp(`[?&](?:${name})=`).test(from.url ?? "");

/** A viewer admitted without any token of the service. */
export const stranger = ({ nowMs }: Pick<Context, "nowMs">, clientId = ""): AccessRecord => ({
  token: "",
  clientId,
  grant: { clientId, revoked: false },
  lifetimeMs: Infinity,
  refreshed: false,
  issuedAtMs: nowMs,
  revoked: false,
});

/** Elements of `data` with other fields. */
export const showing = (changed: (notification: Notification, context: Context) => object): Replacement =>
  change("item", (item, notification, context) => ({
    ...(item as object),
    ...changed(notification, context),
  }));

type Items = readonly Notification[];

/** Pages that are changed once they are read. */
export const readingOn = (
  changed: (items: Items, ...asked: Parameters<Behaviour["readItems"]>) => Items | Promise<Items>,
): Replaces => change("readItems", async (items, ...asked) => changed(await items, ...asked));

/** A selection with a further condition. */
export const narrowed = (
  { where, parameters, ...rest }: Omit<Selection, "orderBy">,
  condition: string,
  ...further: readonly string[]
) => ({ ...rest, where: `${where} AND ${condition}`, parameters: [...parameters, ...further] });

/** Pushes with another body. */
export const pushing = (
  payload: (notification: Notification, attempt: number, service: Service) => unknown,
): Replacement => ({
  pushBody: ({ notification }, attempt, service) => JSON.stringify(payload(notification, attempt, service)),
});

/** Pushes of a notification with some other fields. */
export const pushingFields = (
  changed: (notification: Notification, attempt: number, service: Service) => object,
): Replacement =>
  pushing((notification, ...more) => ({ ...notification, ...changed(notification, ...more) }));

/** There are no more pushes after certain outcomes. */
export const givingUp = (gives: (outcome: PushOutcome, delivery: Delivery) => boolean): Replacement =>
  onlyIf("pushesAgain", (outcome, delivery) => !gives(outcome, delivery));

export const statusIn =
  (from: number, to = from) =>
  (outcome: PushOutcome): boolean => {
    const status = statusOf(outcome);
    return status !== undefined && status >= from && status <= to;
  };

export const sameAccount = (one: Delivery, other: Delivery): boolean =>
  one.notification.accountId === other.notification.accountId;

type Settled = (delivery: Delivery, sound: Behaviour, service: Service) => boolean;

/** Whether a notification reached its maximum number of pushes without being acknowledged. */
export const givenUp: Settled = (delivery, sound, service) =>
  !delivery.acknowledged && delivery.attempts.length >= sound.maxPushes(delivery, service);

/** Removes notifications from the list once they are settled in some way. */
export const leavingOut =
  (isGone: Settled, concerns: (filters: Filters) => boolean = () => true): Replacement =>
  (sound, gone: string[] = []) => ({
    afterPush: (_outcome, delivery, _pending, service) => {
      if (isGone(delivery, sound, service)) gone.push(delivery.notification.id);
    },
    matching: (filters, ...more) => {
      const usual = sound.matching(filters, ...more);
      return gone.length === 0 || !concerns(filters)
        ? usual
        : narrowed(usual, "id NOT IN (SELECT value FROM json_each(?))", JSON.stringify(gone));
    },
  });

/** Each client is shown only its own notifications, the first one also those of no client. */
export const eachItsOwn = together(
  { ownerOf: (clientId, { clients }) => clientId ?? [...clients.keys()][0] ?? "" },
  change("matching", (usual, _filters, { clientId }) => narrowed(usual, "owner = ?", clientId)),
);

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect (RFC 9110 section 15.4); undefined if the answer is not a redirect. */
export const redirectOf = (outcome: PushOutcome, request: PushRequest): string | undefined => {
  if (outcome.kind !== "answered" || !REDIRECTS.has(outcome.status)) return undefined;
  const { location } = outcome.headers;
  if (location === undefined || !URL.canParse(location, request.url)) return undefined;
  const { protocol, href } = new URL(location, request.url);
  return /^https?:$/.test(protocol) ? href : undefined;
};

/**
 * A step that takes real time once its table has grown, such as a database's: the first `quickAtFirst` requests pass
 * immediately. It knows how many requests are in it.
 */
export const slowStep = (takesMs: number, quickAtFirst: number) => {
  let inside = 0;
  let passed = 0;
  return {
    inside: (): number => inside,
    pass: async (clock: ServiceClock): Promise<void> => {
      passed += 1;
      if (passed <= quickAtFirst) return;
      inside += 1;
      await clock.pause(takesMs);
      inside -= 1;
    },
  };
};

/** A connection pool: a request without a free connection waits, first come, first served. */
export const pool = (size: number) => {
  const waiting: (() => void)[] = [];
  let free = size;
  return {
    /** undefined if a connection was free immediately. */
    take: (): Promise<void> | undefined => {
      if (free > 0) {
        free -= 1;
        return undefined;
      }
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
    giveBack: (): void => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
};

/** Drops the oldest records until at most `size` are left. */
export const keepLatest = (records: Map<string, unknown>, size: number): void => {
  for (const key of records.keys()) {
    if (records.size <= size) return;
    records.delete(key);
  }
};
