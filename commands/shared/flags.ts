import { efforts, type Effort } from "../../conformance/checks/effort.ts";
import { Option } from "@commander-js/extra-typings";
import { choiceFlag, durationFlag, integerFlag, listFlag, portFlag, seedFlag } from "./flag-values.ts";

/** Flags shared by several commands. Each parses its value; a wrong one is a ConfigurationError naming the flag. */

export const profileOption = new Option(
  "-p, --profile <file>",
  "the target's profile (.ts, .js or .json); repeat to layer files, later ones override earlier ones (default: the embedded fake)",
).argParser((file: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  file,
]);

export const behaviourOption = new Option(
  "--behaviour <name>",
  "behaviour of the embedded fake (default: sound)",
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

export const seedOptionOf = (description: string) =>
  new Option("--seed <number>", description).argParser(seedFlag);

export const seedOption = seedOptionOf("seed of all generated values (default: random)");

export const effortOption = new Option(
  "--effort <effort>",
  `how many cases each rule judges: ${efforts.join(", ")} (default: standard)`,
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

export const portOption = (description: string) =>
  new Option("--port <number>", `${description} (default: any free one)`).argParser(portFlag("--port"));

export const controlPortOption = (description: string) =>
  new Option("--control-port <number>", `${description} (default: any free one)`).argParser(
    portFlag("--control-port"),
  );

export const k6OutOption = new Option(
  "--k6-out <output>",
  "also give k6's metrics to this output: web-dashboard (k6's own page, on 127.0.0.1), or opentelemetry or experimental-prometheus-rw, configured by K6_OTEL_... or K6_PROMETHEUS_RW_...",
);

export const jsonOption = new Option("--json", "print one JSON document on standard output");
