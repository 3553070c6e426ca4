import type { RequirementId } from "../conformance/contract/catalogue.ts";
import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import type { Behaviour, Replaces } from "./behaviour.ts";
import type { ClockMode } from "./clock.ts";
import { sound } from "./sound.ts";

/** A service that breaks promises of the document, on purpose. */
export interface Defect {
  /** What goes wrong, in one sentence. */
  readonly summary: string;
  /** The requirements that are broken, each visible to a rule for that very sentence. */
  readonly breaks: readonly RequirementId[];
  readonly replaces: Replaces;
}

/** A service that breaks promises only while many requests are under way, or after very many of them. */
export interface LoadDefect extends Defect {
  /** The load that shows it: which scenario, how many requests a second for how long. */
  readonly shownBy: LoadShow;
  /** The objective that is missed, where no sentence of the document is broken: an answer may be as slow as it likes. */
  readonly misses?: string;
}

export interface LoadShow {
  readonly scenario: ScenarioName;
  readonly rate: number;
  readonly seconds: number;
}

/** A service that differs from the sound one only where the document leaves room. */
export interface Variant {
  /** What is different, in one sentence. */
  readonly summary: string;
  /** The clock that it runs on, when that is what makes it different. */
  readonly clockMode?: ClockMode;
  readonly replaces: Replaces;
}

/** A way for the service to behave, by name. */
export interface FakeBehaviour {
  readonly name: string;
  readonly summary: string;
  /** The clock that is taken when none is asked for; frozen when absent. */
  readonly clockMode?: ClockMode;
  /** Makes the decisions as new, with no memory of another service's requests. */
  readonly make: () => Behaviour;
}

export const soundBehaviour: FakeBehaviour = {
  name: "sound",
  summary: "Keeps every promise of the document.",
  make: () => sound,
};

/** Only decisions that there are: a misspelt one is an error where it is written, not a defect that does nothing. */
type Exactly<R> = R & { readonly [K in keyof R]: K extends keyof Behaviour ? Behaviour[K] : never };

export const defect = <R extends Partial<Behaviour>>(
  summary: string,
  breaks: readonly RequirementId[],
  replaces: (sound: Behaviour) => Exactly<R>,
): Defect => ({ summary, breaks, replaces });

/** `shows` are the requirements that a load breaks, or the name of the objective that it misses. */
export const loadDefect = <R extends Partial<Behaviour>>(
  summary: string,
  shows: readonly RequirementId[] | { readonly misses: string },
  shownBy: LoadShow,
  replaces: (sound: Behaviour) => Exactly<R>,
): LoadDefect =>
  "misses" in shows
    ? { summary, breaks: [], misses: shows.misses, shownBy, replaces }
    : { summary, breaks: shows, shownBy, replaces };

export const variant = <R extends Partial<Behaviour>>(
  summary: string,
  replaces: (sound: Behaviour) => Exactly<R>,
): Variant => ({ summary, replaces });

/** The sound service with some decisions replaced. */
export const behaviourFrom = (name: string, { replaces, ...entry }: Variant): FakeBehaviour => ({
  ...entry,
  name,
  make: () => ({ ...sound, ...replaces(sound) }),
});
