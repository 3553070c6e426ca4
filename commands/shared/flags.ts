import { isDay, parseDuration } from "../../conformance/contract/duration.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { efforts, type Effort } from "../../conformance/checks/effort.ts";
import { Option, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { existsSync } from "node:fs";
import { profileNames } from "../../conformance/contract/files.ts";
import type { Pace } from "../../conformance/world/http/pacer.ts";

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

export const seedFlag = integerFlag("--seed", -(2 ** 31), 2 ** 31 - 1);

export const durationFlag =
  (flag: string) =>
  (text: string): number => {
    const durationMs = parseDuration(text);
    if (durationMs !== undefined) return durationMs;
    throw wrong(flag, text, "a duration with its unit, such as 500ms, 90s, 20m, 2h or 30d");
  };

/** Reads durations given as `6s,12s,24s,48s`. */
export const durationsFlag =
  (flag: string) =>
  (text: string): readonly number[] => {
    const durations = text.split(",").map((one) => parseDuration(one.trim()) ?? 0);
    if (durations.every((one) => one > 0)) return durations;
    throw wrong(flag, text, "durations of more than 0 with their units, such as 6s,12s,24s,48s");
  };

/** Reads `50/s,20/min`: requests per second, and refused ones per minute. */
export const paceFlag = (text: string): Pace => {
  const pace: { perSecond?: number; refusedPerMinute?: number } = {};
  for (const part of text.split(",")) {
    const [, count = "", unit] = /^\s*(\d+(?:\.\d+)?)\/(s|min)\s*$/.exec(part) ?? [];
    const rate = Number(count);
    const key = unit === "s" ? "perSecond" : "refusedPerMinute";
    const isWhole = unit === "s" || Number.isInteger(rate);
    if (!(rate > 0 && rate <= MOST_PACE) || unit === undefined || !isWhole || pace[key] !== undefined)
      throw wrong(
        "--pace",
        text,
        "requests per second, refused ones per minute, or both: 50/s, 20/min or 50/s,20/min, each more than 0",
      );
    pace[key] = rate;
  }
  return pace;
};
const MOST_PACE = 100_000;

/** The parser also carries its choices, which completion offers. */
export const choiceFlag = <T extends string>(flag: string, choices: readonly T[]) =>
  Object.assign(
    (text: string): T => {
      const choice = choices.find((one) => one === text);
      if (choice !== undefined) return choice;
      throw wrong(flag, text, `one of ${choices.join(", ")}`);
    },
    { choices },
  );

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

export const dateFlag = (text: string): string => {
  if (isDay(text)) return text;
  throw wrong("--since", text, "a day such as 2030-01-31");
};

/* Flags shared by several commands. */

export const profileOptionOf = (description: string) =>
  new Option("-p, --profile <file>", description).argParser(
    (file: string, earlier: readonly string[] | undefined): readonly string[] => [...(earlier ?? []), file],
  );

export const profileOption = profileOptionOf(
  "the target's profile (.ts, .js or .json); repeat to layer files, later ones override earlier ones (default: TOUCHSTONE_PROFILE, the touchstone.config file of this folder, or the embedded fake)",
);

export const fakeOption = new Option(
  "--fake",
  "judge the embedded fake, whatever profile there is",
).conflicts("profile");

export const behaviourOption = new Option(
  "--behaviour <name>",
  "judge the embedded fake with this behaviour (default: sound)",
);

export interface TargetFlags {
  readonly profile?: readonly string[] | undefined;
  readonly behaviour?: string | undefined;
}

export const maxWaitOption = new Option(
  "--max-wait <duration>",
  "longest single wait in real time, if the target's clock cannot be advanced",
)
  .default(20 * 60_000, "20m")
  .argParser(durationFlag("--max-wait"));

export const paceOption = new Option(
  "--pace <rates>",
  "most requests to the target per second, and most per minute that are refused, as many are on purpose: 50/s,20/min (default: as fast as the target answers and lets through)",
).argParser(paceFlag);

export const seedOptionOf = (description: string) =>
  new Option("--seed <number>", description).argParser(seedFlag);

export const seedOption = seedOptionOf("seed of all generated values (default: TOUCHSTONE_SEED, or random)");

export const effortOption = new Option(
  "--effort <effort>",
  `how many cases each rule judges: ${efforts.join(", ")} (default: TOUCHSTONE_EFFORT, or standard)`,
).argParser(choiceFlag("--effort", efforts));

export const effortOf = (record: { readonly effort: string }): Effort =>
  choiceFlag("effort of the run", efforts)(record.effort);

export const onlyOption = new Option("--only <ids>", "judge only these rules, separated by commas").argParser(
  listFlag,
);

export const outOption = new Option(
  "--out <directory>",
  "the run directory (default: a new one under runs/)",
);

export const wholeOutOption = new Option(
  "--out <directory>",
  "folder of the run directories `gate` and `load` (default: two new ones under runs/)",
);

/** `--report`: formats separated by commas, or repeated. */
export const reportOption = <const Format extends string>(
  description: string,
  formats: readonly Format[],
) => {
  const format = choiceFlag("--report", formats);
  return new Option(
    "--report <formats>",
    `${description}${formats.join(", ")}, separated by commas`,
  ).argParser((text: string, earlier: Format[] | undefined): Format[] => [
    ...(earlier ?? []),
    ...listFlag(text).map(format),
  ]);
};

export const reportOutOption = (what: string) =>
  new Option("--report-out <directory>", `folder of ${what} (default: beside the run directory)`);

export const rateOption = (description: string) =>
  new Option("--rate <number>", description).default(100).argParser(integerFlag("--rate", 1, 1_000_000));

const portFlagOf =
  <const Flag extends string>(flag: Flag) =>
  (description: string) =>
    new Option(`${flag} <number>`, `${description} (default: any free one)`).argParser(
      integerFlag(flag, 0, 65_535),
    );
export const portOption = portFlagOf("--port");
export const controlPortOption = portFlagOf("--control-port");

export const k6OutOption = new Option(
  "--k6-out <output>",
  "also give k6's metrics to this output: web-dashboard (k6's own page, on 127.0.0.1), or opentelemetry or experimental-prometheus-rw, configured by K6_OTEL_... or K6_PROMETHEUS_RW_...",
);

export const jsonOption = new Option("--json", "print one JSON document on standard output");

/** Variables that give these flags where the command line does not. */
const variables = [
  [profileOption, "TOUCHSTONE_PROFILE"],
  [seedOption, "TOUCHSTONE_SEED"],
  [effortOption, "TOUCHSTONE_EFFORT"],
] as const;

/**
 * Gives a command the flags that are not on its command line: from the environment, and a profile from the folder. Whoever
 * asks for the embedded fake gets no profile. Returns the profile that was found in the folder.
 */
export const fillFlags = (
  command: CommandUnknownOpts,
  environment: NodeJS.ProcessEnv,
): string | undefined => {
  const { fake, behaviour } = command.opts() as { readonly fake?: true; readonly behaviour?: string };
  const isFake = fake === true || behaviour !== undefined;
  const lacking = (option: Option): boolean =>
    command.options.includes(option) &&
    command.getOptionValue(option.attributeName()) === undefined &&
    !(isFake && option === profileOption);
  for (const [option, variable] of variables) {
    const value = environment[variable];
    if (value === undefined || !lacking(option)) continue;
    if (value === "") throw wrong(variable, "", "a value; unset it otherwise");
    command.setOptionValueWithSource(option.attributeName(), readAs(option, value, variable), "env");
  }
  if (!lacking(profileOption)) return undefined;
  const [found, ...others] = profileNames.filter((name) => existsSync(name));
  if (found === undefined) return undefined;
  if (others.length > 0)
    throw new ConfigurationError(
      `this folder holds ${[found, ...others].join(" and ")}; name one of them with --profile, or judge the embedded fake with --fake`,
    );
  command.setOptionValueWithSource("profile", [found], "config");
  return found;
};

/** The value of a flag that a variable gives; a mistake in it names the variable. */
const readAs = ({ parseArg }: Option, value: string, variable: string): unknown => {
  try {
    return parseArg?.(value, undefined);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.problems.map((problem) => `${variable}: ${problem}`));
  }
};
