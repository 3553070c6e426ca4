import { existsSync } from "node:fs";
import { ConfigurationError } from "../../conformance/problem.ts";
import type { ResolvedProfile } from "../../conformance/profile.ts";
import type { ReceiverSettings } from "../../conformance/receiver-settings.ts";
import type { Rule } from "../../conformance/rule.ts";
import type { CommandContext } from "./context.ts";
import { isNamed } from "./exit.ts";
import type { TargetFlags } from "./flags.ts";

/** A service that can be judged, with what was opened for it. */
export interface OpenTarget {
  readonly resolved: ResolvedProfile;
  /** Behaviour of the embedded fake, where that is the target. */
  readonly behaviour?: string;
  readonly stop: () => Promise<void>;
}

/** The target of a run: the embedded fake, or the service that a profile describes. */
export const openTarget = async (
  { output, environment }: CommandContext,
  options: TargetFlags & {
    /** How long the embedded fake awaits pushes that do not move, in milliseconds. */
    readonly patienceMs?: number;
  },
): Promise<OpenTarget> => {
  const { checkProfile, loadProfile, resolveProfile } = await import("../../conformance/profile.ts");
  if (options.profile !== undefined) {
    if (options.behaviour !== undefined)
      throw new ConfigurationError([
        "--behaviour is for the embedded fake; leave it out where --profile names a service",
      ]);
    return {
      resolved: output.knowing(await loadProfile(options.profile, environment)),
      stop: async () => {},
    };
  }
  // A profile is never taken because it lies about: whoever runs this in a project may not mean its service.
  if (options.behaviour === undefined && existsSync("touchstone.config.ts"))
    output.say(
      "touchstone.config.ts is here and is not used; --profile touchstone.config.ts judges its service.",
    );
  const { startFakeServer, profileOf, secretsOf } = await import("../../fake-server/index.ts");
  const { behaviour = "sound", patienceMs } = options;
  const fake = await (async () =>
    startFakeServer({ behaviour, ...(patienceMs === undefined ? {} : { patienceMs }) }))().catch(
    (error: unknown) => {
      throw isNamed(error, ["UnknownBehaviour"])
        ? new ConfigurationError([`--behaviour: ${error.message}`])
        : error;
    },
  );
  return {
    resolved: output.knowing(await resolveProfile(checkProfile(profileOf(fake)), secretsOf(fake))),
    behaviour,
    stop: fake.stop,
  };
};

/** The target together with a receiver of pushes, where one of these rules judges pushes: the profile's, or one that is started here. */
export const withReceiver = async (opening: Promise<OpenTarget>, rules: readonly Rule[]) => {
  const target = await opening;
  const { hooks } = target.resolved.profile;
  const { watchesPushes } = await import("../../conformance/conform.ts");
  if (!rules.some(watchesPushes) || hooks?.callback === undefined || hooks.events === undefined)
    return { ...target, receiver: undefined };
  const asked: ReceiverSettings = target.resolved.receiver ?? { kind: "listen" };
  if (asked.kind === "attach") return { ...target, receiver: asked };
  try {
    const { startReceiver } = await import("../../fake-server/receiver/index.ts");
    const receiver = await startReceiver(asked);
    return {
      ...target,
      receiver,
      // The service first: what it has still to push would only meet a closed door.
      stop: async () => {
        await target.stop();
        await receiver.stop();
      },
    };
  } catch (error) {
    await target.stop();
    throw error;
  }
};
