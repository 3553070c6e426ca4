import type { Check } from "../conformance/contract/check.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import type { TargetFlags } from "./shared/flags.ts";
import { openTarget, withReceiver } from "./shared/target.ts";
import { doctorDoc } from "../reports/document/commands.ts";
import { profileChecks, profileMistakes } from "../conformance/profile/doctor.ts";
import { loadObstacles } from "../conformance/profile/profile-secret.ts";
import { rules } from "../conformance/rules/index.ts";
import { requestsOf } from "../conformance/checks/effort.ts";
import { examine } from "../conformance/engine/conform.ts";
import { allowedHere } from "../conformance/files/own-limits.ts";
import { k6Status, neededFor, shortagesFor } from "../scenarios/runner/index.ts";
import type { FetchedProfile } from "../conformance/contract/profile-fetched.ts";
import type { doctor as definition } from "./flags/gate.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output } = context;
  const checks = [...(await diagnose(context, flags)), await checkK6(context)];
  show(output, doctorDoc(checks), { checks });
  const fatal = checks.find((check) => check.fatal !== undefined)?.fatal;
  if (fatal !== undefined) context.exitWith(exitCodes[fatal === "unreachable" ? "unreachable" : "usage"]);
  else if (checks.some(({ ok }) => ok === false)) context.exitWith(exitCodes.incomplete);
};

/** Checks the profile and its service; for an unusable profile, only reports its mistakes. */
const diagnose = async (
  context: CommandContext,
  flags: Pick<TargetFlags, "profile">,
): Promise<readonly Check[]> => {
  const { output, environment, clock, signal, freshUuid } = context;
  let target;
  try {
    target = await withReceiver(openTarget(context, flags), rules);
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
      requestCheck(),
      ...checkGenerator(target.resolved.profile),
    ];
  } catch (error) {
    // Some mistakes show only once the session opens, such as those of the clock file.
    if (error instanceof ConfigurationError) return profileMistakes(error);
    throw error;
  } finally {
    await target?.stop();
  }
};

/** What a gate asks of the service, for services that count requests or wrong attempts. */
const requestCheck = (): Check => {
  const [{ all, refused }, quick] = [requestsOf.standard, requestsOf.quick];
  const [most, refusedMost, fewer, refusedFewer] = [all, refused, quick.all, quick.refused].map((count) =>
    count.toLocaleString("en"),
  );
  return {
    check: "requests",
    ok: true,
    message: `a gate needs about ${most} requests, ${refusedMost} of them refused on purpose; with --effort quick, ${fewer} and ${refusedFewer}; --pace bounds how many there are at a time`,
  };
};

/** Without --rate. */
const USUAL_RATE = 100;

/** Whether this profile could be loaded, and this machine generate the load that it permits; the gate does not care. */
const checkGenerator = (profile: FetchedProfile): readonly Check[] => {
  const check = "load generator";
  const unplayed = loadObstacles(profile);
  if (unplayed.length > 0) return unplayed.map((message) => ({ check, ok: "skipped", message }));
  const rate = profile.safety?.maxRate ?? USUAL_RATE;
  const allowed = allowedHere();
  const shortages = shortagesFor(neededFor({ scenario: "token", rate }, profile), allowed);
  const load = `a load of ${rate} requests per second`;
  if (shortages.length > 0) {
    const message = `too small for ${load}: ${shortages.map(({ text }) => text).join("; ")}`;
    return [{ check, ok: "skipped", message, remedy: shortages.map(({ remedy }) => remedy).join("; ") }];
  }
  const limits = Object.entries(allowed).map(([limit, count]) => `${count} ${limit}`);
  return limits.length === 0
    ? [{ check, ok: "skipped", message: "the limits of this machine are not known" }]
    : [{ check, ok: true, message: `${limits.join(" and ")} are enough for ${load}` }];
};

/** Whether a load run would find its k6; the gate does not need k6. */
const checkK6 = async ({ environment, signal }: CommandContext): Promise<Check> => {
  try {
    const status = await k6Status({ environment, signal });
    return status.found === undefined
      ? { check: "k6", ok: "skipped", message: `not installed: ${status.plan}` }
      : { check: "k6", ok: true, message: `${status.found.version} at ${status.found.path}` };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      check: "k6",
      ok: false,
      message: error.message,
      remedy: "correct it, or leave TOUCHSTONE_K6 unset",
    };
  }
};
