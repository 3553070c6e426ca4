import { isDay } from "../../conformance/contract/duration.ts";
import { parseDuration } from "../../conformance/contract/duration.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

/* Flag parsers. A wrong value is a ConfigurationError naming the flag, the value and what is accepted. */

const wrong = (key: string, value: string, accepted: string): ConfigurationError =>
  new ConfigurationError([{ key, value, accepted }]);

export const integerFlag =
  (flag: string, least: number, most: number) =>
  (text: string): number => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
    throw wrong(flag, text, `a whole number from ${least} to ${most}`);
  };

export const portFlag = (flag: string): ((text: string) => number) => integerFlag(flag, 0, 65_535);
export const seedFlag = integerFlag("--seed", -(2 ** 31), 2 ** 31 - 1);

export const durationFlag =
  (flag: string) =>
  (text: string): number => {
    const durationMs = parseDuration(text);
    if (durationMs !== undefined) return durationMs;
    throw wrong(flag, text, "a duration with its unit, such as 500ms, 90s, 20m, 2h or 30d");
  };

export const choiceFlag =
  <T extends string>(flag: string, choices: readonly T[]) =>
  (text: string): T => {
    const choice = choices.find((one) => one === text);
    if (choice !== undefined) return choice;
    throw wrong(flag, text, `one of ${choices.join(", ")}`);
  };

/** Refuses an empty value, such as that of an unset variable. */
export const refuseEmpty = (
  flags: readonly (readonly [flag: string | undefined, value: unknown])[],
): void => {
  for (const [flag = "", value] of flags)
    if (value === "" || (Array.isArray(value) && (value.length === 0 || value.includes(""))))
      throw wrong(flag, "", "a value; if it comes from a variable, set it");
};

/** Splits a list given as `a,b` and repeats of the flag into one list. */
export const listFlag = (text: string, earlier: readonly string[] = []): string[] => [
  ...earlier,
  ...text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
];

/** Reads a tag such as build=1234, adding it to those already read. */
export const tagFlag = (
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => {
  const [, name, value] = /^([A-Za-z][\w.-]{0,63})=(.{0,200})$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw wrong("--tag", text, "a name and a value, such as build=1234");
  return { ...earlier, [name]: value };
};

export const dateFlag =
  (flag: string) =>
  (text: string): string => {
    if (isDay(text)) return text;
    throw wrong(flag, text, "a day such as 2030-01-31");
  };
