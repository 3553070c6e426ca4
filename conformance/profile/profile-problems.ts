import { ConfigurationError } from "../contract/problem.ts";

export type KeyPath = readonly (string | number)[];

/** One mistake in a profile: its place, and a sentence that names key, value and what is accepted. */
export interface ProfileProblem {
  readonly at: KeyPath;
  readonly text: string;
}

/** A key in its usual notation, such as `clients[0].secret` or `headers."x-one"`. */
export const keyText = (at: KeyPath): string =>
  at.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return `${text}${text === "" ? "" : "."}${/^[\w$]+$/.test(key) ? key : `"${key}"`}`;
  }, "");

/** A problem whose sentence begins with its key. */
export const problemAt = (at: KeyPath, said: string): ProfileProblem => ({
  at,
  text: `${keyText(at)} ${said}`,
});

/** Collects everything wrong with the values of a profile, to report it at once. */
export interface Problems {
  readonly all: readonly ProfileProblem[];
  add(at: KeyPath, said: string): void;
  /** Reads the value of a key; undefined if that fails with a ConfigurationError, which is then added to the problems. */
  attempt<T>(at: KeyPath, read: () => T | Promise<T>): Promise<T | undefined>;
}

export const collectProblems = (): Problems => {
  const all: ProfileProblem[] = [];
  const add = (at: KeyPath, said: string): void => void all.push({ at, text: `${keyText(at)}: ${said}` });
  return {
    all,
    add,
    attempt: async (at, read) => {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        add(at, error.message);
        return undefined;
      }
    },
  };
};
