import type { Action } from "./shared/context.ts";
import { runLoad } from "./shared/load-run.ts";
import { reportOn } from "./shared/write-reports.ts";
import { parseAsked, parseSegment, seedOf } from "../scenarios/runner/index.ts";
import { loadDoc } from "../reports/document/load.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import type { load as definition } from "./flags/load.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

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
    // Segments have to agree on a seed without being told.
    seed: flags.seed ?? (segment === undefined ? context.freshSeed() : seedOf(segment.runId)),
    segment,
  });
  const { record, directory } = await runLoad(context, flags, asked);
  if (flags.json) output.printJson({ ...record, run: directory });
  else output.print(renderTerminal(loadDoc({ record, run: directory }, { detail: "brief" }), output.page()));
  for (const file of await reportOn(context, [directory], flags)) output.say(`Report   ${file}`);
  context.exitWith(record.exitCode ?? exitCodes["harness-error"]);
};
