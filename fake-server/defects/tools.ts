import type { Behaviour, Filters } from "../behaviour.ts";
import type { Context, Service, AccessRecord } from "../context.ts";
import type { Delivery } from "../pushes.ts";
import { decisions, type Replacement } from "../registry.ts";

/** The first record that a careless look-up matches to the presented text; text only. */
export const firstLike = <R>(
  records: ReadonlyMap<string, R>,
  presented: unknown,
  matches: (stored: string, presented: string) => boolean,
): R | undefined => {
  if (typeof presented !== "string") return undefined;
  for (const [stored, record] of records) if (matches(stored, presented)) return record;
  return undefined;
};

/** Comparisons of stored and presented values that are not equality. */
export const careless = {
  ofCase: (stored: string, presented: string) => stored.toLowerCase() === presented.toLowerCase(),
  ofDashes: (stored: string, presented: string) =>
    stored.replaceAll("-", "") === presented.replaceAll("-", ""),
  ofSpaceAround: (stored: string, presented: string) => stored === presented.trim(),
  ofSuffix: (stored: string, presented: string) => presented.startsWith(stored),
  beyond: (characters: number) => (stored: string, presented: string) =>
    presented.length >= characters && stored.startsWith(presented.slice(0, characters)),
};

export const lastOf = <R>(records: ReadonlyMap<string, R>): R | undefined => [...records.values()].at(-1);

/** A JSON value converted as in a loosely typed language: an array of one string is that string. */
export const asText = (value: unknown): string =>
  Array.isArray(value) ? value.map(asText).join(",") : String(value);

/** Whether a presented value counts as absent. */
export const isNothing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Counts the calls for each record: 1 for the first. */
export const counted = (): ((record: object) => number) => {
  const calls = new WeakMap<object, number>();
  return (record) => {
    const count = (calls.get(record) ?? 0) + 1;
    calls.set(record, count);
    return count;
  };
};

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

type Settled = (delivery: Delivery, sound: Behaviour, service: Service) => boolean;

/** Whether a notification reached its maximum number of pushes without being acknowledged. */
export const givenUp: Settled = (delivery, sound, service) =>
  !delivery.acknowledged && delivery.attempts.length >= sound.maxPushes(delivery, service);

/** Removes notifications from the list once they are settled in some way. */
export const leavingOut = (
  isGone: Settled,
  concerns: (filters: Filters) => boolean = () => true,
): Replacement =>
  decisions((sound, gone: string[] = []) => ({
    afterPush: (_outcome, delivery, _pending, service) => {
      if (isGone(delivery, sound, service)) gone.push(delivery.notification.id);
    },
    matching: (filters, viewer, context) => {
      const { where, parameters } = sound.matching(filters, viewer, context);
      return gone.length === 0 || !concerns(filters)
        ? { where, parameters }
        : {
            where: `${where} AND id NOT IN (SELECT value FROM json_each(?))`,
            parameters: [...parameters, JSON.stringify(gone)],
          };
    },
  }));
