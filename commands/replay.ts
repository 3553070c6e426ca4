import type { Action } from "./shared/context.ts";
import { effortOf, type TargetFlags } from "./shared/flags.ts";
import { openTarget, withReceiver } from "./shared/target.ts";
import { readGateRun } from "../reports/read/index.ts";
import { replay, replayable } from "../conformance/engine/replay.ts";
import { replayDoc } from "../reports/document/commands.ts";
import type { replay as definition } from "./flags/gate.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, directory, rule, flags) => {
  const { output, signal, freshUuid } = context;
  const { record } = await readGateRun(directory);
  const earlier = replayable(record, rule);
  const opening = openTarget(context, targetAgain(flags.profile, record.target));
  const target = await withReceiver(opening, [earlier.rule]);
  try {
    const answer = await replay(earlier, {
      resolved: target.resolved,
      receiver: target.receiver,
      effort: effortOf(record),
      seed: record.seed,
      strict: record.strict,
      maxWaitMs: flags.maxWait,
      secrets: output.secrets,
      signal,
      freshUuid,
    });
    show(output, replayDoc(answer, { run: directory, program: context.programName }), answer);
    context.exitWith(
      {
        "still fails": exitCodes.failed,
        fixed: exitCodes.passed,
        "could not run": exitCodes.incomplete,
      }[answer.answer],
    );
  } finally {
    await target.stop();
  }
};

/** The target of an earlier run, unless a profile replaces it. */
const targetAgain = (
  profile: readonly string[] | undefined,
  earlier: { readonly profiles: readonly string[]; readonly behaviour?: string | undefined },
): TargetFlags =>
  profile === undefined
    ? {
        profile: earlier.profiles.length === 0 ? undefined : earlier.profiles,
        behaviour: earlier.behaviour,
      }
    : { profile };
