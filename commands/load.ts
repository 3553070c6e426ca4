import type { Action } from "./shared/context.ts";
import { runLoad } from "./shared/load-run.ts";
import { judgedRun } from "./shared/conclude.ts";
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
    k6Output: parseK6Output(flags.k6Out),
    stages: flags.stage,
    profileShape: flags.profile && (await readProfile(flags.profile)).load?.shape,
    tags: flags.tag,
  });
  await judgedRun(
    context,
    flags,
    () => runLoad(context, flags, asked),
    (judged) => show(output, loadDoc(judged, output.manner()), { ...judged.record, run: judged.directory }),
  );
};
