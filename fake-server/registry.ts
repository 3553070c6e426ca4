import type { RequirementId } from "../conformance/contract/catalogue.ts";
import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import type { Behaviour, Replaces } from "./behaviour.ts";
import type { ClockMode } from "./clock.ts";
import { sound } from "./sound.ts";

/** A service that breaks promises of the document, on purpose. */
export interface Defect {
  /** What goes wrong, in one sentence. */
  readonly summary: string;
  /** The requirements that are broken, each visible to its own rule. */
  readonly breaks: readonly RequirementId[];
  /** When its clock starts, in milliseconds since 1970, if it shows only at certain times of a year. */
  readonly startTimeMs?: number;
  readonly replaces: Replaces;
}

/** A service that breaks promises only under concurrent requests, or after very many of them. */
export interface LoadDefect extends Defect {
  /** The load that shows it: scenario, requests per second and duration. */
  readonly shownBy: LoadShow;
  /** The clock that it runs on, if another would show it more easily. */
  readonly clockMode?: ClockMode;
  /** The objective that is missed, if no sentence of the document is broken: answers may be arbitrarily slow. */
  readonly misses?: string;
}

export interface LoadShow {
  readonly scenario: ScenarioName;
  readonly rate: number;
  readonly seconds: number;
}

/** A decision, or a part of what it gives. */
export type Part = keyof Behaviour | `${keyof Behaviour}.${string}`;

/** A service that differs from the sound one only where the document leaves room. */
export interface Variant {
  /** The difference, in one sentence. */
  readonly summary: string;
  /** The clock that it runs on, if that is the difference. */
  readonly clockMode?: ClockMode;
  /** When its clock starts, in milliseconds since 1970, if not as usual. */
  readonly startTimeMs?: number;
  readonly replaces: Replaces;
  /** The rules that it may leave inconclusive, because a service like this does not let them be judged. */
  readonly leavesOpen?: readonly RequirementId[];
  /** The parts of its decisions that it changes, if another variant may change the rest in the same service. */
  readonly changes?: readonly Part[];
}

/** A named behaviour of the service. */
export interface FakeBehaviour {
  readonly name: string;
  readonly summary: string;
  /** The default clock; frozen if absent. */
  readonly clockMode?: ClockMode;
  /** When its frozen clock starts, in milliseconds since 1970. */
  readonly startTimeMs?: number;
  /** Creates fresh decisions, without state from another service. */
  readonly make: () => Behaviour;
}

export const soundBehaviour: FakeBehaviour = {
  name: "sound",
  summary: "Keeps every promise of the document.",
  make: () => sound,
};

/** The name of a defect or variant, and its difference in one sentence. */
export type Title = `${string}: ${string}.`;

const namedIn = (title: string): readonly [name: string, summary: string] => {
  const end = title.indexOf(": ");
  return [title.slice(0, end), title.slice(end + 2)];
};

/**
 * How a service differs: other decisions, or a function that makes them of the sound ones. The function is called once
 * per service; its state are further parameters with defaults. A test holds every row to decisions that exist.
 */
export type Replacement = Partial<Behaviour> | Replaces;

export const replacesOf = (replacement: Replacement): Replaces =>
  typeof replacement === "function" ? replacement : () => replacement;

/** Merges records. Throws if two have a name in common, because one would be lost. */
export const joined = <E>(records: readonly Readonly<Record<string, E>>[]): Readonly<Record<string, E>> => {
  const all = records.flatMap((record) => Object.entries(record));
  const names = all.map(([name]) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`two behaviours are called "${repeated}"`);
  return Object.fromEntries(all);
};

/** The requirements that defects break: the one under which they are listed, and others after a space. */
type Broken = RequirementId | `${RequirementId} ${string}`;
type Groups = Readonly<Partial<Record<Broken, Readonly<Record<Title, Replacement>>>>>;

/** Defects by the requirements that they break, then by title; `more` is what all of them have in common. */
export const rows = <M extends Partial<LoadDefect>>(
  groups: Groups,
  more?: M,
): Readonly<Record<string, Defect & M>> =>
  joined(
    Object.entries(groups as Readonly<Record<string, Readonly<Record<string, Replacement>>>>).flatMap(
      ([broken, titled]) =>
        Object.entries(titled).map(([title, replacement]) => {
          const [name, summary] = namedIn(title);
          const breaks = broken.split(" ") as RequirementId[];
          return { [name]: { summary, breaks, replaces: replacesOf(replacement), ...(more as M) } };
        }),
    ),
  );

/** How a variant differs, and the parts that it changes, if not all of its decisions. */
type VariantRow = Replacement | readonly [Replacement, ...changes: Part[]];

const isSeveral = <R extends readonly unknown[]>(row: Replacement | R): row is R => Array.isArray(row);

export const variantRows = (
  titled: Readonly<Record<Title, VariantRow>>,
  more: Partial<Variant> = {},
): Readonly<Record<string, Variant>> =>
  joined(
    Object.entries(titled).map(([title, row]: [string, VariantRow]) => {
      const [name, summary] = namedIn(title);
      const [replaces, ...changes] = isSeveral(row) ? row : [row];
      const parts = changes.length === 0 ? {} : { changes };
      return { [name]: { summary, replaces: replacesOf(replaces), ...parts, ...more } };
    }),
  );

/** The sound service with some decisions replaced. */
export const behaviourFrom = (name: string, { replaces, ...entry }: Variant): FakeBehaviour => ({
  ...entry,
  name,
  make: () => ({ ...sound, ...replaces(sound) }),
});

type Decision = keyof Behaviour;
type Subject<D extends Decision> = Parameters<Behaviour[D]>;
type Result<D extends Decision> = ReturnType<Behaviour[D]>;
/** The decisions that synchronously answer yes or no. */
type Condition = { [D in Decision]: Result<D> extends boolean ? D : never }[Decision];
type Predicate<D extends Decision> = (...subject: Subject<D>) => boolean;

/** A replacement that keeps state: parameters with defaults, made once per service. */
export const keeping =
  (made: () => Replacement): Replaces =>
  (sound) =>
    replacesOf(made())(sound);

/** Replacements of different decisions in one service. */
export const together =
  (...all: readonly Replacement[]): Replaces =>
  (sound) =>
    Object.assign({}, ...all.map((replacement) => replacesOf(replacement)(sound))) as Partial<Behaviour>;

const one =
  <D extends Decision>(
    decision: D,
    made: (sound: Behaviour, ...subject: Subject<D>) => Result<D>,
  ): Replaces =>
  (sound) => ({ [decision]: (...subject: Subject<D>) => made(sound, ...subject) });

/** The sound service's answer to one decision. */
const soundly = <D extends Decision>(sound: Behaviour, decision: D, subject: Subject<D>): Result<D> =>
  (sound[decision] as (...all: Subject<D>) => Result<D>)(...subject);

/** The sound result of one decision, changed. */
export const change = <D extends Decision>(
  decision: D,
  changed: (result: Result<D>, ...subject: Subject<D>) => Result<D>,
): Replaces => one(decision, (sound, ...subject) => changed(soundly(sound, decision, subject), ...subject));

/** The sound decision on a changed subject. */
export const given = <D extends Decision>(
  decision: D,
  changed: (...subject: Subject<D>) => Subject<D>,
): Replaces => one(decision, (sound, ...subject) => soundly(sound, decision, changed(...subject)));

/** The sound service's action, followed by another one. */
export const afterwards = <D extends Decision>(
  decision: D,
  more: (...subject: Subject<D>) => void,
): Replaces =>
  one(decision, (sound, ...subject) => {
    const result = soundly(sound, decision, subject);
    more(...subject);
    return result;
  });

/** An additional condition besides the sound one. */
export const onlyIf = <D extends Condition>(decision: D, holds: Predicate<D>): Replaces =>
  one(decision, (sound, ...subject) => (soundly(sound, decision, subject) && holds(...subject)) as Result<D>);

/** An alternative way to meet the sound condition. */
export const alsoIf = <D extends Condition>(decision: D, holds: Predicate<D>): Replaces =>
  one(decision, (sound, ...subject) => (soundly(sound, decision, subject) || holds(...subject)) as Result<D>);

type Taken = (...subject: readonly never[]) => unknown;

/** What differs in some calls of its decisions, those for which the condition holds; the others are decided soundly. */
export const onlyWhen =
  (applies: (subject: readonly unknown[]) => boolean, what: Replacement): Replaces =>
  (sound) =>
    Object.fromEntries(
      Object.entries(replacesOf(what)(sound)).map(([decision, otherwise]) => [
        decision,
        (...subject: readonly never[]) =>
          ((applies(subject) ? otherwise : sound[decision as Decision]) as Taken)(...subject),
      ]),
    );

/** What differs in every n-th call. */
export const everyNth = (n: number, what: Replacement): Replaces =>
  keeping((calls = 0) => onlyWhen(() => (calls += 1) % n === 0, what));
