import { Option } from "@commander-js/extra-typings";
import {
  choiceFlag,
  durationFlag,
  integerFlag,
  listFlag,
  portFlag,
  seedFlag,
} from "../../conformance/flags.ts";
import type { ReportFormat } from "../../reports/write.ts";

/** Flags that several commands share. Each reads its value; a wrong one is a ConfigurationError that names the flag. */

export const profileOption = new Option(
  "-p, --profile <file>",
  "the target's profile (.ts, .js or .json); given again, a file that is laid over the ones before; the embedded fake where left out",
).argParser((file: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  file,
]);

export const behaviourOption = new Option(
  "--behaviour <name>",
  "behaviour of the embedded fake (`sound` where left out)",
);

/** What profileOption and behaviourOption give. */
export interface TargetFlags {
  readonly profile?: readonly string[] | undefined;
  readonly behaviour?: string | undefined;
}

export const maxWaitOption = new Option(
  "--max-wait <duration>",
  "longest single wait where the target's clock cannot be moved",
)
  .default(20 * 60_000, "20m")
  .argParser(durationFlag("--max-wait"));

export const seedOption = new Option(
  "--seed <number>",
  "seed of all generated values; random where left out",
).argParser(seedFlag);

export const efforts = ["quick", "standard", "thorough"] as const;
export type Effort = (typeof efforts)[number];

export const effortOption = (usual: "quick" | "standard") =>
  new Option("--effort <effort>", "how many cases each rule judges: quick, standard or thorough")
    .default(usual)
    .argParser(choiceFlag("--effort", efforts));

/** The effort that a record names. */
export const effortOf = (record: { readonly effort: string }): Effort =>
  choiceFlag("effort of the run", efforts)(record.effort);

export const outOption = new Option(
  "--out <directory>",
  "the run directory; a new one under runs/ where left out",
);

const reportFormat = choiceFlag("--report", ["html", "junit", "ctrf", "markdown"] as const);

export const reportOption = (description: string) =>
  new Option(
    "--report <formats>",
    `${description}html, junit, ctrf, markdown, separated by commas`,
  ).argParser((text: string, earlier: ReportFormat[] | undefined): ReportFormat[] => [
    ...(earlier ?? []),
    ...listFlag(text).map(reportFormat),
  ]);

export const reportOutOption = (what: string) =>
  new Option("--report-out <directory>", `where ${what}; a folder beside the run directory where left out`);

export const rateOption = (description: string) =>
  new Option("--rate <number>", description).default(100).argParser(integerFlag("--rate", 1, 1_000_000));

export const portOption = (description: string) =>
  new Option("--port <number>", `${description}; any free one where left out`).argParser(portFlag("--port"));

export const controlPortOption = (description: string) =>
  new Option("--control-port <number>", `${description}; any free one where left out`).argParser(
    portFlag("--control-port"),
  );

export const jsonOption = new Option("--json", "one JSON document on standard output");
