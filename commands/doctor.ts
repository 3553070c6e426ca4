import { Command } from "@commander-js/extra-typings";
import type { Check } from "../conformance/contract/check.ts";
import { exitCodes } from "../conformance/contract/record.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import { isNamed } from "./shared/exit.ts";
import { jsonOption, profileOption, type TargetFlags } from "./shared/flags.ts";
import { openTarget, withReceiver } from "./shared/target.ts";

export const doctorCommand = (context: CommandContext) =>
  new Command("doctor")
    .description(
      "looks at everything that a run rests on: profile, secrets, address, clients, hooks, receiver, k6",
    )
    .addOption(profileOption)
    .addOption(jsonOption)
    .action(async (flags) => {
      const { output } = context;
      const checks = [...(await diagnose(context, flags)), await checkK6(context)];
      const { renderDoctor } = await import("../reports/terminal/doctor.ts");
      if (flags.json) output.printJson({ checks });
      else output.print(renderDoctor(checks, await output.page()));
      const fatal = checks.find((check) => check.fatal !== undefined)?.fatal;
      if (fatal !== undefined) context.exitWith(exitCodes[fatal === "unreachable" ? "unreachable" : "usage"]);
      else if (checks.some(({ ok }) => ok === false)) context.exitWith(exitCodes.incomplete);
    });

/** Everything about the profile and its service; a profile that cannot be used is all there is to say. */
const diagnose = async (
  context: CommandContext,
  flags: Pick<TargetFlags, "profile">,
): Promise<readonly Check[]> => {
  const { profileChecks, profileMistakes } = await import("../conformance/doctor.ts");
  const { rules } = await import("../conformance/rules/index.ts");
  const { examine } = await import("../conformance/conform.ts");
  const { output, environment, clock, signal, freshUuid } = context;
  let target;
  try {
    target = await withReceiver(openTarget(context, flags), rules);
  } catch (error) {
    if (error instanceof ConfigurationError) return profileMistakes(error);
    throw error;
  }
  try {
    const today = new Date(clock.wallMs()).toISOString().slice(0, 10);
    return [
      ...profileChecks(target.resolved, environment, today),
      ...(await examine(target.resolved, {
        receiver: target.receiver,
        maxWaitMs: 0,
        secrets: output.secrets,
        signal,
        freshUuid,
      })),
    ];
  } finally {
    await target.stop();
  }
};

/** Whether a load run would find its k6; the gate needs none. */
const checkK6 = async ({ environment, signal }: CommandContext): Promise<Check> => {
  const { k6Status } = await import("../scenarios/runner/index.ts");
  try {
    const status = await k6Status({ environment, signal });
    return status.found === undefined
      ? { check: "k6", ok: "skipped", message: `none is here: ${status.plan}` }
      : { check: "k6", ok: true, message: `${status.found.version} at ${status.found.path}` };
  } catch (error) {
    if (!isNamed(error, ["InvalidLoad"])) throw error;
    return {
      check: "k6",
      ok: false,
      message: error.message,
      remedy: "mend it, or leave TOUCHSTONE_K6 unset",
    };
  }
};
