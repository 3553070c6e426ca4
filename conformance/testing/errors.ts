import { expect } from "vitest";
import { ConfigurationError } from "../contract/problem.ts";

/** The error of this class with which something ends. */
export const errorOf = async <E>(
  ending: Promise<unknown> | (() => unknown),
  kind: abstract new (...given: never[]) => E,
): Promise<E> => {
  const error: unknown = await Promise.try(typeof ending === "function" ? ending : () => ending).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(kind);
  return error as E;
};

/** The text of the ConfigurationError with which something ends. */
export const problemOf = async (ending: Promise<unknown> | (() => unknown)): Promise<string> =>
  (await errorOf(ending, ConfigurationError)).message;
