import { nearest } from "../conformance/contract/text.ts";
import {
  behaviourFrom,
  type FakeBehaviour,
  soundBehaviour,
  type Variant,
  type Part,
  joined,
  type Defect,
  type LoadDefect,
} from "./registry.ts";
import { loadVariants } from "./variants/load.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Behaviour } from "./behaviour.ts";
import { sound } from "./sound.ts";
import { answerVariants } from "./variants/answers.ts";
import { credentialVariants } from "./variants/credentials.ts";
import { httpVariants } from "./variants/http.ts";
import { listVariants } from "./variants/list.ts";
import { pushVariants } from "./variants/push.ts";
import { accessLifetimeDefects } from "./defects/access-lifetime.ts";
import { accessDefects } from "./defects/access.ts";
import { advisoryDefects } from "./defects/advisory.ts";
import { authorizeDefects } from "./defects/authorize.ts";
import { bodyDefects } from "./defects/bodies.ts";
import { clientDefects, exchangeDefects } from "./defects/exchange.ts";
import { codeDefects } from "./defects/code.ts";
import { lifecycleDefects } from "./defects/lifecycle.ts";
import { lifetimeDefects } from "./defects/lifetimes.ts";
import { listDefects } from "./defects/list.ts";
import { loadNotificationDefects } from "./defects/load-notifications.ts";
import { loadPushDefects } from "./defects/load-push.ts";
import { loadRefreshDefects, loadTokenDefects } from "./defects/load-tokens.ts";
import { notificationDefects } from "./defects/notifications.ts";
import { pushAcknowledgementDefects } from "./defects/push-acknowledgement.ts";
import { pushPayloadDefects } from "./defects/push-payload.ts";
import { pushFailureDefects } from "./defects/push-failures.ts";
import { pushScheduleDefects } from "./defects/push-schedule.ts";
import { refreshDefects } from "./defects/refresh.ts";
import { stateDefects } from "./defects/state.ts";
import { unknownDefects } from "./defects/unknown.ts";
import { usualClientDefects } from "./defects/usual.ts";
import { writeDefects } from "./defects/writes.ts";

/** Every seeded defect by name, in the order of the document. */
export const defects = joined<Defect>([
  authorizeDefects,
  stateDefects,
  codeDefects,
  lifetimeDefects,
  unknownDefects,
  exchangeDefects,
  clientDefects,
  bodyDefects,
  refreshDefects,
  accessDefects,
  accessLifetimeDefects,
  usualClientDefects,
  notificationDefects,
  listDefects,
  writeDefects,
  pushScheduleDefects,
  pushAcknowledgementDefects,
  pushFailureDefects,
  pushPayloadDefects,
  lifecycleDefects,
  advisoryDefects,
]);

/** Defects that only load shows. They are separate because sequential rules are not expected to detect them. */
export const loadDefects = joined<LoadDefect>([
  loadTokenDefects,
  loadRefreshDefects,
  loadNotificationDefects,
  loadPushDefects,
]);

/** Every conforming variant by name, in the order of the document. */
export const variants = joined<Variant>([
  answerVariants,
  credentialVariants,
  listVariants,
  httpVariants,
  pushVariants,
]);

const entries: Readonly<Record<string, Variant>> = {
  ...defects,
  ...variants,
  ...loadDefects,
  ...loadVariants,
};

/**
 * Every behaviour that the service can be started with, by name: `sound`, defects, variants, and those of both that
 * only load shows.
 */
export const behaviours: Readonly<Record<string, FakeBehaviour>> = Object.fromEntries([
  [soundBehaviour.name, soundBehaviour],
  ...Object.entries(entries).map(([name, entry]) => [name, behaviourFrom(name, entry)]),
]);

const LISTED = 5;

const unknown = (asked: string): ConfigurationError =>
  new ConfigurationError(
    `--behaviour: there is no behaviour "${asked}"; accepted is one that \`touchstone serve --list\` prints, or several joined with "${joint}"; similar ones are ${nearest(asked, Object.keys(behaviours), LISTED).join(", ")}`,
  );

const named = <E>(among: Readonly<Record<string, E>>, name: string): E => {
  const found = Object.hasOwn(among, name) ? among[name] : undefined;
  if (found === undefined) throw unknown(name);
  return found;
};

/** Finds a behaviour by name, or several combined by names joined with "+". Throws ConfigurationError. */
export const findBehaviour = (name: string): FakeBehaviour =>
  name.includes(joint)
    ? bundle(
        name,
        name.split(joint).map((one) => named(entries, one)),
      )
    : named(behaviours, name);

export const joint = "+";

/** One service with several behaviours at once; if two replace the same decision, the later one wins. */
const bundle = (name: string, entries: readonly Variant[]): FakeBehaviour => {
  const clockMode = entries.find((entry) => entry.clockMode !== undefined)?.clockMode;
  const startTimeMs = entries.find((entry) => entry.startTimeMs !== undefined)?.startTimeMs;
  return {
    name,
    summary: entries.map(({ summary }) => summary).join(" "),
    ...(clockMode === undefined ? {} : { clockMode }),
    ...(startTimeMs === undefined ? {} : { startTimeMs }),
    make: () => entries.reduce<Behaviour>((made, { replaces }) => ({ ...made, ...replaces(made) }), sound),
  };
};

/**
 * Decisions that depend on others: a rate limit is recognised by its refusal, and tokens may expire while it or a lockout
 * makes requests wait; filters are compared with raw ids, a limit on bodies keeps very long codes out, and a push sent late
 * and noticed late is late twice. Combined, two conforming variants would not conform, or could not be decided.
 */
const restsOn: Partial<Record<keyof Behaviour, readonly Part[]>> = {
  admission: ["renderRefusal.limited", "accessTokenLifetimeMs"],
  afterRefusedExchange: ["accessTokenLifetimeMs"],
  readFilters: ["mintNotificationId"],
  readBody: ["mintCode"],
  pushNoticedMs: ["pushJitterMs"],
};

const partsOf = ({ replaces, changes }: Variant): readonly Part[] =>
  (changes ?? (Object.keys(replaces(sound)) as (keyof Behaviour)[])).flatMap((part) => [
    part,
    ...(restsOn[part as keyof Behaviour] ?? []),
  ]);

/** Whether the two are the same, or one is a part of the other. */
const overlap = (a: Part, b: Part): boolean => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);

interface Placed {
  readonly name: string;
  readonly index: number;
  readonly parts: readonly Part[];
  readonly clockMode: Variant["clockMode"];
}

const clash = (one: Placed, other: Placed): boolean =>
  one.parts.some((part) => other.parts.some((theirs) => overlap(part, theirs))) ||
  (one.clockMode ?? other.clockMode) !== (other.clockMode ?? one.clockMode);

/** This number of bundles of about the same size; undefined if a variant fits into none of them. */
const inBundles = (all: readonly Placed[], count: number): readonly (readonly Placed[])[] | undefined => {
  const bundles = Array.from({ length: count }, (): Placed[] => []);
  for (const one of all) {
    const fitting = bundles.filter((bundle) => !bundle.some((other) => clash(one, other)));
    const smallest = fitting.toSorted((a, b) => a.length - b.length)[0];
    if (smallest === undefined) return undefined;
    smallest.push(one);
  }
  return bundles;
};

/**
 * As few bundles of variants as possible, without two that change the same decision or one it depends on: real services
 * differ in several ways at once, and each bundle is judged by every rule only once.
 */
export const bundlesOf = (variants: Readonly<Record<string, Variant>>): readonly (readonly string[])[] => {
  const all = Object.entries(variants).map(([name, entry], index) => ({
    name,
    index,
    parts: partsOf(entry),
    clockMode: entry.clockMode,
  }));
  const clashes = new Map(all.map((one) => [one, all.filter((other) => clash(one, other)).length]));
  // Those first that can be together with the fewest.
  const ordered = all.toSorted((a, b) => (clashes.get(b) ?? 0) - (clashes.get(a) ?? 0));
  for (let count = 0; ; count += 1) {
    const bundles = inBundles(ordered, count);
    if (bundles === undefined) continue;
    return bundles.map((bundle) => bundle.toSorted((a, b) => a.index - b.index).map(({ name }) => name));
  }
};
