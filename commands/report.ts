import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { schemaOf } from "../reports/schemas.ts";
import { besideRun, checkReportOut, refuseTwice, reportOn } from "./shared/write-reports.ts";
import { duetDoc } from "../reports/document/duet.ts";
import { duetSuite } from "../reports/ci/compared.ts";
import { readDuet } from "../reports/read/index.ts";
import { comparedFormats, type ComparedFormat, type ReportFormat } from "../reports/formats.ts";
import { writeDocument } from "../reports/write.ts";
import type { report as definition } from "./flags/reports.ts";

export const run: Action<typeof definition> = async (context, directories, flags) => {
  const { output } = context;
  refuseUnused(directories, flags);
  if (flags.schema !== undefined) return output.printJson(schemaOf(flags.schema));
  if (directories.length === 0)
    throw new ConfigurationError(["report takes one or more run directories, or --schema <name>"]);
  refuseTwice(directories);
  const { report = ["html"], out: reportOut } = flags;
  checkReportOut(reportOut, "--out");
  const files =
    directories.length === 1
      ? writeDuetReports(directories[0] ?? "", { formats: report, reportOut })
      : undefined;
  const written = files ?? (await reportOn(context, directories, { report, reportOut }, "--out"));
  if (flags.json) output.printJson({ files: written });
  else output.print(written.join("\n"));
};

/** What would be ignored beside --schema is a mistake. */
const refuseUnused = (
  directories: readonly string[],
  { schema, report, out }: Parameters<typeof run>[2],
): void => {
  if (schema === undefined) return;
  const unused = [
    directories.length > 0 && "the run directories",
    report !== undefined && "--report",
    out !== undefined && "--out",
  ].filter((one) => one !== false);
  if (unused.length > 0)
    throw new ConfigurationError([
      `--schema prints a schema and does nothing else; remove ${unused.join(", ")}`,
    ]);
};

interface Wanted {
  readonly formats: readonly ReportFormat[];
  readonly reportOut: string | undefined;
}

/** The reports of the duet in a folder; undefined if there is none. */
const writeDuetReports = (
  folder: string,
  { formats: asked, reportOut }: Wanted,
): readonly string[] | undefined => {
  const duet = readDuet(folder);
  if (duet === undefined) return undefined;
  const known = new Map<string, ComparedFormat>(comparedFormats.map((one) => [one, one]));
  const formats = asked.flatMap((one) => known.get(one) ?? []);
  const wrong = asked.find((one) => !known.has(one));
  if (wrong !== undefined)
    throw new ConfigurationError([
      { key: "--report", value: wrong, accepted: `${comparedFormats.join(", ")} for a duet` },
    ]);
  return writeDocument(duetDoc(duet, folder), {
    name: "duet",
    formats,
    out: reportOut ?? besideRun(folder),
    suite: duetSuite(duet, folder),
  });
};
