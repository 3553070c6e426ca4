import type { ScenarioName } from "../../conformance/contract/load-shape.ts";
import { stateCharacters } from "../../conformance/contract/forms.ts";
import { sfc32, uuidOf } from "../../conformance/contract/random.ts";

export type Random = ReturnType<typeof randomFrom>;

/** Choices for one purpose: the same key gives the same choices. */
export const randomFrom = (key: string) => {
  const uint32 = sfc32([fnv1a(key, 1), fnv1a(key, 2), fnv1a(key, 3), fnv1a(key, 4)], 12);
  const next = (): number => uint32() / 4_294_967_296;
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    /** From 0 (inclusive) to 1 (exclusive). */
    next,
    /** An integer from 0 (inclusive) to `bound` (exclusive). */
    below,
    /** Characters allowed in a state. */
    letters: (length: number): string => {
      let text = "";
      for (let at = 0; at < length; at += 1) text += stateCharacters.charAt(below(stateCharacters.length));
      return text;
    },
    /** A UUID formatted as version 4 (RFC 9562 section 5.4), with bits from the seed. */
    uuid: (): string => uuidOf(Array.from({ length: 32 }, () => below(16).toString(16)).join(""), 4),
  };
};

const fnv1a = (text: string, round: number): number => {
  let hash = (0x811c9dc5 ^ Math.imul(round, 0x9e3779b1)) | 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
};

const lengths = { usual: 24, digits: 20 } as const;

/**
 * A state of letters and digits (section 2.1) that begins with the given digits, which identify the request: usually of
 * typical length, sometimes of maximum length, sometimes resembling a number.
 */
export const stateFrom = (random: Random, unique: string, mostBytes: number): string => {
  const drawn = random.below(8);
  if (drawn === 0) return unique.padStart(Math.min(lengths.digits, mostBytes), "0");
  const length = Math.min(mostBytes, drawn === 1 ? mostBytes : lengths.usual);
  return `${unique}Z${random.letters(length)}`.slice(0, Math.max(length, unique.length));
};

/** A kind of iteration: its weight, and its number of requests if everything is granted. */
interface Kind {
  readonly weight: number;
  readonly requests: number;
}

/** Iterations of `token`. Most clients are well-behaved; every other kind attacks a rule. */
export const tokenKinds = {
  /** authorize, exchange, two concurrent lists, refresh, list */
  login: { weight: 41, requests: 6 },
  /** authorize, exchange, two concurrent refreshes, list with each, one more refresh */
  refreshesAtOnce: { weight: 15, requests: 7 },
  /**
   * three concurrent authorizes with different states, then their three exchanges concurrently, and one of them again
   */
  crowd: { weight: 15, requests: 7 },
  /** authorize, three concurrent exchanges of the code */
  race: { weight: 15, requests: 4 },
  /** authorize, exchange, then concurrently the same exchange twice and one from an earlier iteration */
  reuse: { weight: 6, requests: 5 },
  /** two authorizes, an exchange with a wrong secret, and its twin with the right one */
  wrongSecret: { weight: 4, requests: 4 },
  /** authorize, exchange, then concurrently a list, an exchange and a refresh with cut credentials, and a valid list */
  forged: { weight: 4, requests: 6 },
} as const satisfies Readonly<Record<string, Kind>>;

/** Number of requests of every `notifications` iteration. */
export const readsPerIteration = 4;

/**
 * One in this many virtual users of `notifications` writes: each of its iterations triggers two events for its own
 * account and reads it twice, all concurrently. With fewer writers, their accounts grow faster.
 */
export const oneWriterIn = 8;

/** An account gets a few events of `push` in a row, so that those of one account and of different ones are concurrent. */
const eventsInARow = 4;

/** The account of an iteration of `push`; undefined if there are none to choose from. */
export const inTurn = (accounts: readonly string[], iteration: number): string | undefined =>
  accounts[Math.floor(iteration / eventsInARow) % accounts.length];

/** Iterations of the other virtual users, if events can be triggered. */
export const readKinds = {
  /** without a page and with the first page concurrently, then the second page and a limit of one */
  defaults: { weight: 20, requests: readsPerIteration },
  /** by id, by id and account, by an id of another account, and by an unknown id, all concurrently */
  lookUps: { weight: 25, requests: readsPerIteration },
  /** three pages that cover everything, and one past the end */
  walk: { weight: 20, requests: readsPerIteration },
  /** three reads without a filter, and the page on which the list ends by its total */
  everything: { weight: 10, requests: readsPerIteration },
} as const satisfies Readonly<Record<string, Kind>>;

/** Minimum and maximum number of requests in a visit of `mixed`; all numbers are equally likely. */
export const visitRequests = { least: 5, most: 11 } as const;

/** Shares of `mixed` visits that start with an authorization, refresh the stored tokens, or use them as they are. */
export const visitKinds = {
  authorize: { weight: 25 },
  refresh: { weight: 35 },
  resume: { weight: 40 },
} as const;

/** The share of a visit's polls that are preceded by an event for its account. */
export const eventShare = 0.1;

/** Pauses between the requests of a visit: lognormal, with a maximum. Short, so that few virtual users suffice. */
export const thinkTime = { medianMs: 150, sigma: 0.8, longestMs: 2_000 } as const;

const mean = (kinds: Readonly<Record<string, Kind>>): number => {
  const all = Object.values(kinds);
  return (
    all.reduce((sum, { weight, requests }) => sum + weight * requests, 0) /
    all.reduce((sum, { weight }) => sum + weight, 0)
  );
};

/** The mean pause before the maximum applies. */
export const meanThinkTimeMs = thinkTime.medianMs * Math.exp(thinkTime.sigma ** 2 / 2);

/** Traits of a scenario that the runner needs. A scenario without an entry does not compile. */
interface Traits {
  /** Average number of requests per iteration if everything is granted. */
  readonly requestsPerIteration: number;
  /** Mean pause after a request, in which a virtual user is idle. */
  readonly thinkTimeMs: number;
  /** `needed`: the scenario cannot run without an event hook. */
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

type Weighed<K extends string> = Readonly<Record<K, { readonly weight: number }>>;

const entriesOf = <K extends string>(kinds: Weighed<K>) =>
  Object.entries(kinds) as [K, { readonly weight: number }][];

/** Kinds with the weights set by a profile. */
export const weighed = <K extends string>(
  kinds: Weighed<K>,
  weights: Readonly<Partial<Record<K, number>>>,
): Weighed<K> =>
  Object.fromEntries(
    entriesOf(kinds).map(([name, { weight }]) => [name, { weight: weights[name] ?? weight }]),
  ) as Weighed<K>;

export const drawKind = <K extends string>(kinds: Weighed<K>, random: Random): K => {
  const all = entriesOf(kinds);
  let left = random.next() * all.reduce((sum, [, { weight }]) => sum + weight, 0);
  for (const [name, { weight }] of all) {
    left -= weight;
    if (left < 0) return name;
  }
  return all[0]?.[0] as K;
};

/** A pause in milliseconds, by the Box-Muller transform. */
export const drawThinkTimeMs = (random: Random): number => {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.min(thinkTime.longestMs, thinkTime.medianMs * Math.exp(thinkTime.sigma * normal));
};
