import { validateHeaderName, validateHeaderValue } from "node:http";
import { ConfigurationError } from "../contract/problem.ts";
import { keyText, type KeyPath, type KeyProblem } from "../contract/schema-errors.ts";

/** A problem whose sentence begins with its key. */
export const problemAt = (at: KeyPath, said: string): KeyProblem => ({
  at,
  text: `${keyText(at)} ${said}`,
});

/** Collects everything wrong with the values of a profile, to report it at once. */
export interface Problems {
  readonly all: readonly KeyProblem[];
  add(at: KeyPath, said: string): void;
  /**
   * Reads what the value of a key names; undefined if there is no value, or if that fails with a ConfigurationError,
   * which is then added to the problems.
   */
  attempt<V, T>(
    at: KeyPath,
    value: V | undefined,
    read: (value: V) => T | Promise<T>,
  ): Promise<T | undefined>;
}

export const collectProblems = (): Problems => {
  const all: KeyProblem[] = [];
  const add = (at: KeyPath, said: string): void => void all.push({ at, text: `${keyText(at)}: ${said}` });
  return {
    all,
    add,
    attempt: async (at, value, read) => {
      if (value === undefined) return undefined;
      try {
        return await read(value);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        add(at, error.message);
        return undefined;
      }
    },
  };
};

/** The value of a key, unless it may be or contain a credential. */
export const shownValue = (key: string, value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return /secret|header|token|password|passphrase|query|body|command|proxy/i.test(key)
    ? `(a ${typeof value}, not shown)`
    : (JSON.stringify(value)?.slice(0, 80) ?? "nothing");
};

/** Whether HTTP can carry such a header. */
export const canBeSent = (name: string, value: string): boolean => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
};
