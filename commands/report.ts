import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { besideRun, checkReportOut, refuseTwice, reportOn } from "./shared/write-reports.ts";
import { duetDoc } from "../reports/document/duet.ts";
import { duetSuite } from "../reports/ci/compared.ts";
import { readComparison } from "../reports/compare/stored.ts";
import { tool } from "../conformance/record/tool.ts";
import { writeComparison } from "./shared/compared.ts";
import { readDuet } from "../reports/read/duet.ts";
import { comparedFormats, type ComparedFormat, type ReportFormat } from "../reports/formats.ts";
import { writeDocument } from "../reports/write.ts";
import { schemaOf, verify, type Verification } from "../reports/read/index.ts";
import { verifiedDoc } from "../reports/document/verified.ts";
import type { report as definition } from "./flags/reports.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, directories, flags) => {
  const { output } = context;
  refuseUnused(directories, flags);
  if (flags.schema !== undefined) return output.printJson(schemaOf(flags.schema));
  if (directories.length === 0)
    throw new ConfigurationError(["report takes one or more run directories, or --schema <name>"]);
  refuseTwice(directories);
  if (flags.verify === true) return verifyRuns(context, directories);
  const { report = ["html"], out: reportOut } = flags;
  checkReportOut(reportOut, directories, "--out");
  const files =
    directories.length === 1
      ? writeCompared(directories[0] ?? "", { formats: report, reportOut })
      : undefined;
  const written = files ?? (await reportOn(context, directories, { report, reportOut }, "--out"));
  if (flags.json) output.printJson({ files: written });
  else output.print(written.join("\n"));
};

/** What would be ignored beside --schema or --verify is a mistake. */
const refuseUnused = (
  directories: readonly string[],
  { schema, verify: isVerified, report, out }: Parameters<typeof run>[2],
): void => {
  const written = [report !== undefined && "--report", out !== undefined && "--out"];
  const besideSchema = [directories.length > 0 && "the run directories", isVerified === true && "--verify"];
  const [does, unused] =
    schema === undefined
      ? (["--verify writes nothing", isVerified === true ? written : []] as const)
      : (["--schema prints a schema and does nothing else", [...besideSchema, ...written]] as const);
  const named = unused.filter((one) => one !== false);
  if (named.length > 0) throw new ConfigurationError([`${does}; remove ${named.join(", ")}`]);
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
  const about = { run: folder, isPilot: duet.plan !== undefined };
  return writeDocument(duetDoc(duet, about), {
    name: "duet",
    formats,
    out: reportOut ?? besideRun(folder),
    suite: duetSuite(duet, about),
  });
};

/** Every run gets its result, whatever becomes of the others. */
const verifyRuns = ({ output, exitWith }: CommandContext, directories: readonly string[]): void => {
  const found: (Verification & { readonly run: string })[] = [];
  const problems: string[] = [];
  for (const directory of directories)
    try {
      found.push({ run: directory, ...verify(directory) });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
    }
  if (found.length > 0) show(output, verifiedDoc(found), found);
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (found.some(({ state }) => state === "altered")) exitWith(exitCodes.failed);
  else if (found.some(({ state }) => state === "unsealed")) exitWith(exitCodes.incomplete);
};
