import type { ScenarioName } from "../../conformance/contract/load-shape.ts";
import type { Random } from "./random.ts";

/** A kind of iteration: how often it is drawn, and how many requests it makes where everything is granted. */
interface Kind {
  readonly weight: number;
  readonly requests: number;
}

/** What iterations of `token` do. Most clients are well-behaved; every other kind attacks a rule. */
export const tokenKinds = {
  /** authorize, exchange, two lists at once, refresh, list */
  login: { weight: 45, requests: 6 },
  /** authorize, exchange, two refreshes at once, list with each, one more refresh */
  refreshesAtOnce: { weight: 15, requests: 7 },
  /** three authorizes at once, each with its own state, then their three exchanges at once, and one of them once more */
  crowd: { weight: 15, requests: 7 },
  /** authorize, three exchanges of the code at once */
  race: { weight: 15, requests: 4 },
  /** authorize, exchange, then twice more the same exchange and once one of an earlier iteration, at once */
  reuse: { weight: 6, requests: 5 },
  /** two authorizes, an exchange with a wrong secret, and its twin with the right one */
  wrongSecret: { weight: 4, requests: 4 },
} as const satisfies Readonly<Record<string, Kind>>;

/** Every iteration of `notifications` makes as many requests. */
export const readsPerIteration = 4;

/**
 * One virtual user of `notifications` in so many writes: each of its iterations triggers two events for
 * its own account and reads it twice, all at once. Fewer writers have accounts that grow faster.
 */
export const oneWriterIn = 8;

/** What iterations of the other virtual users do, where events can be triggered. */
export const readKinds = {
  /** without a page and with the first one at once, then the second one and a limit of one */
  defaults: { weight: 20, requests: readsPerIteration },
  /** by id, by id and account, by an id of another account, by an id that does not exist: all at once */
  lookUps: { weight: 25, requests: readsPerIteration },
  /** three pages that hold everything, and one past the end */
  walk: { weight: 20, requests: readsPerIteration },
  /** no filter at all */
  everything: { weight: 10, requests: readsPerIteration },
} as const satisfies Readonly<Record<string, Kind>>;

/** The least and the most requests of a visit of `mixed`, each number as likely as the others. */
export const visitRequests = { least: 5, most: 11 } as const;

/** The share of visits of `mixed` that begin with an authorization, refresh the tokens kept, or use them as they are. */
export const visitKinds = {
  authorize: { weight: 25 },
  refresh: { weight: 35 },
  resume: { weight: 40 },
} as const;

/** The share of a visit's polls before which its account has an event. */
export const eventShare = 0.1;

/** Pauses between the requests of a visit: lognormal, cut at the longest. Short, so that few virtual users do. */
export const thinkTime = { medianMs: 150, sigma: 0.8, longestMs: 2_000 } as const;

const mean = (kinds: Readonly<Record<string, Kind>>): number => {
  const all = Object.values(kinds);
  return (
    all.reduce((sum, { weight, requests }) => sum + weight * requests, 0) /
    all.reduce((sum, { weight }) => sum + weight, 0)
  );
};

/** The mean of that pause, before it is cut. */
export const meanThinkTimeMs = thinkTime.medianMs * Math.exp(thinkTime.sigma ** 2 / 2);

/** What the runner has to know of a scenario. A scenario without an entry does not compile. */
interface Traits {
  /** Requests that one iteration makes on average where everything is granted. */
  readonly requestsPerIteration: number;
  /** Mean pause after a request, in which a virtual user waits for nothing. */
  readonly thinkTimeMs: number;
  /** `needed`: without an event hook the scenario cannot run. */
  readonly events: "none" | "used" | "needed";
}

export const traits: Readonly<Record<ScenarioName, Traits>> = {
  token: { requestsPerIteration: mean(tokenKinds), thinkTimeMs: 0, events: "none" },
  notifications: { requestsPerIteration: readsPerIteration, thinkTimeMs: 0, events: "used" },
  mixed: {
    requestsPerIteration: (visitRequests.least + visitRequests.most) / 2,
    thinkTimeMs: meanThinkTimeMs,
    events: "used",
  },
  push: { requestsPerIteration: 1, thinkTimeMs: 0, events: "needed" },
};

/** Kinds with the weights that a profile gives them. */
export const weighed = <K extends string>(
  kinds: Readonly<Record<K, { readonly weight: number }>>,
  weights: Readonly<Partial<Record<K, number>>>,
): Readonly<Record<K, { readonly weight: number }>> =>
  Object.fromEntries(
    (Object.entries(kinds) as [K, { readonly weight: number }][]).map(([name, { weight }]) => [
      name,
      { weight: weights[name] ?? weight },
    ]),
  ) as Record<K, { readonly weight: number }>;

export const drawKind = <K extends string>(
  kinds: Readonly<Record<K, { readonly weight: number }>>,
  random: Random,
): K => {
  const all = Object.entries(kinds) as [K, { readonly weight: number }][];
  let left = random.next() * all.reduce((sum, [, { weight }]) => sum + weight, 0);
  for (const [name, { weight }] of all) {
    left -= weight;
    if (left < 0) return name;
  }
  return all[0]?.[0] as K;
};

/** A pause by the Box-Muller transform, in milliseconds. */
export const drawThinkTimeMs = (random: Random): number => {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.min(thinkTime.longestMs, thinkTime.medianMs * Math.exp(thinkTime.sigma * normal));
};
