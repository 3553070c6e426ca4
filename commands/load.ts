import type { Action } from "./shared/context.ts";
import { runLoad } from "./shared/load-run.ts";
import { conclude, tellingUnreachable, withVerdict } from "./shared/conclude.ts";
import { openRunPage, withPageReport } from "./shared/page.ts";
import { checkReportOut } from "./shared/write-reports.ts";
import { parseAsked, parseK6Output, parseSegment, seedOf } from "../scenarios/runner/index.ts";
import { readProfile } from "../conformance/profile/profile.ts";
import { loadDoc } from "../reports/document/load.ts";
import type { load as definition } from "./flags/load.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output } = context;
  const segment = parseSegment(flags, context.environment, context.clock.wallMs());
  const asked = parseAsked({
    scenario: flags.scenario,
    shape: flags.shape,
    rate: flags.rate,
    durationMs: flags.duration,
    warmUpMs: flags.warmUp,
    virtualUsers: flags.vus,
    // Segments must derive the same seed independently.
    seed: flags.seed ?? (segment === undefined ? context.freshSeed() : seedOf(segment.runId)),
    segment,
    k6Output: flags.k6Out === undefined ? undefined : parseK6Output(flags.k6Out),
    stages: flags.stage,
    profileStages: flags.profile && (await readProfile(flags.profile)).load?.shape,
    tags: flags.tag,
  });
  checkReportOut(flags.reportOut);
  const page = await openRunPage(context, flags);
  const reported = withPageReport(flags);
  const loading = runLoad(context, flags, asked, undefined, page);
  const ran = await withVerdict(tellingUnreachable(context, reported, loading));
  const { record, directory } = ran;
  const tell = (exitCode: number): void => {
    const judged = { ...record, exitCode };
    const shown = loadDoc({ record: judged, directory }, { detail: "brief" });
    show(output, shown, { ...judged, run: directory });
  };
  const { files } = await conclude(context, [ran], reported, tell);
  for (const file of files) output.say(`Report   ${file}`);
  await page.end(files);
};
