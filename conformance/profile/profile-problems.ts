import { ConfigurationError } from "../contract/problem.ts";

export type KeyPath = readonly (string | number)[];

/** One mistake in a profile: where it stands, and a sentence that names key, value and what is accepted. */
export interface ProfileProblem {
  readonly at: KeyPath;
  readonly text: string;
}

/** A key as people write it, such as `clients[0].secret` or `headers."x-one"`. */
export const keyText = (at: KeyPath): string =>
  at.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return `${text}${text === "" ? "" : "."}${/^[\w$]+$/.test(key) ? key : `"${key}"`}`;
  }, "");

/** A sentence about a key, which begins with it. */
export const problemAt = (at: KeyPath, said: string): ProfileProblem => ({
  at,
  text: `${keyText(at)} ${said}`,
});

/** What is wrong with the values that the keys of a profile name, all of it before any of it is told. */
export interface Problems {
  readonly all: readonly ProfileProblem[];
  add(at: KeyPath, said: string): void;
  /** What is read for a key; undefined where that fails with a ConfigurationError, which is then one of the problems. */
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
