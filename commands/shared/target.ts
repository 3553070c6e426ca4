import { ConfigurationError } from "../../conformance/contract/problem.ts";
import {
  type ReceiverSettings,
  type ResolvedProfile,
  loadProfile,
  resolveProfile,
  concealResolved,
} from "../../conformance/profile/profile.ts";
import type { Rule } from "../../conformance/checks/rule.ts";
import type { CommandContext } from "./context.ts";
import type { Output } from "./output.ts";
import type { TargetFlags } from "./flags.ts";
import { startFakeServer, inProcessHooksOf, profileOf, secretsOf } from "../../fake-server/index.ts";
import { watchesPushes } from "../../conformance/engine/needs.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";

export interface OpenTarget {
  readonly resolved: ResolvedProfile;
  /** Behaviour of the embedded fake, if that is the target. */
  readonly behaviour?: string;
  readonly stop: () => Promise<void>;
}

/** The profile, after making sure that no stream shows its secrets. */
export const knownTo = ({ conceal }: Output, resolved: ResolvedProfile): ResolvedProfile => {
  conceal((secrets) => concealResolved(secrets, resolved));
  return resolved;
};

export const openTarget = async (
  { output, environment }: CommandContext,
  options: TargetFlags & {
    /** How long the embedded fake waits for stalled pushes, in milliseconds. */
    readonly patienceMs?: number;
  },
): Promise<OpenTarget> => {
  if (options.profile !== undefined) {
    if (options.behaviour !== undefined)
      throw new ConfigurationError([
        "--behaviour is for the embedded fake; remove it when --profile names a service",
      ]);
    return {
      resolved: knownTo(output, await loadProfile(options.profile, environment)),
      stop: async () => {},
    };
  }
  const { behaviour = "sound", patienceMs } = options;
  const fake = await startFakeServer({ behaviour, ...(patienceMs === undefined ? {} : { patienceMs }) });
  const resolved = await resolveProfile(profileOf(fake), secretsOf(fake));
  return {
    resolved: knownTo(output, { ...resolved, inProcessHooks: inProcessHooksOf(fake) }),
    behaviour,
    stop: fake.stop,
  };
};

/**
 * The target, with a receiver of pushes if one of these rules needs it: the profile's receiver, or one started here.
 */
export const withReceiver = async (opening: Promise<OpenTarget>, rules: readonly Rule[]) => {
  const target = await opening;
  const { hooks } = target.resolved.profile;
  if (!rules.some(watchesPushes) || hooks?.callback === undefined || hooks.events === undefined)
    return { ...target, receiver: undefined };
  const asked: ReceiverSettings = target.resolved.receiver ?? { kind: "listen" };
  if (asked.kind === "attach") return { ...target, receiver: asked };
  try {
    const receiver = await startReceiver(asked);
    return {
      ...target,
      receiver,
      // Stops the service first, because its pending pushes would only meet a closed port.
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
