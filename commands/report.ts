import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { schemaOf } from "../reports/schemas.ts";
import { besideRun, checkReportOut, refuseTwice, reportOn } from "./shared/write-reports.ts";
import { duetDoc } from "../reports/document/duet.ts";
import { duetSuite } from "../reports/ci/compared.ts";
import { readComparison } from "../reports/compare/stored.ts";
import { tool } from "../conformance/record/tool.ts";
import { writeComparison } from "./shared/make-reports.ts";
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
      ? writeCompared(directories[0] ?? "", { formats: report, reportOut })
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

/** The reports of the duet or comparison in a folder; undefined if there is none. */
const writeCompared = (
  folder: string,
  { formats: asked, reportOut }: Wanted,
): readonly string[] | undefined => {
  const duet = readDuet(folder);
  const stored = duet === undefined ? readComparison(folder, tool.version) : undefined;
  if (duet === undefined && stored === undefined) return undefined;
  const known = new Map<string, ComparedFormat>(comparedFormats.map((one) => [one, one]));
  const formats = asked.flatMap((one) => known.get(one) ?? []);
  const wrong = asked.find((one) => !known.has(one));
  if (wrong !== undefined)
    throw new ConfigurationError([
      {
        key: "--report",
        value: wrong,
        accepted: `${comparedFormats.join(", ")} for a duet or a comparison`,
      },
    ]);
  if (stored !== undefined)
    return writeComparison(stored.comparison, { ...stored, formats, out: reportOut ?? folder });
  if (duet === undefined) return undefined;
  return writeDocument(duetDoc(duet, folder), {
    name: "duet",
    formats,
    out: reportOut ?? besideRun(folder),
    suite: duetSuite(duet, folder),
  });
};
