import { hostname, tmpdir } from "node:os";
import type { ResolvedProfile } from "../../conformance/profile.ts";
import { tool } from "../../conformance/tool.ts";
import type { AskedRun, FoundK6, LoadContext } from "../../scenarios/runner/index.ts";
import type { CommandContext } from "./context.ts";
import type { TargetFlags } from "./flags.ts";
import { loadProgress, type LoadView } from "./live.ts";
import { openTarget, withReceiver, type OpenTarget } from "./target.ts";

/** No behaviour of the fake that conforms takes longer to list a new notification. */
const FAKE_VISIBILITY_MS = 2_500;

/** The target of a load run: the fake has a process of its own there, so that it takes no time from the collector. */
const openLoadTarget = async (context: CommandContext, options: TargetFlags): Promise<OpenTarget> => {
  if (options.profile !== undefined) return openTarget(context, options);
  const { startFakeProcess } = await import("../../fake-server/index.ts");
  const { loadProfile } = await import("../../conformance/profile.ts");
  const { behaviour = "sound" } = options;
  const fake = await startFakeProcess([process.execPath, context.programFile], behaviour);
  const resolved = context.output.knowing(await loadProfile(fake.profileFile, context.environment));
  // What is lost shows in a load of seconds only where it need not be waited for much longer.
  const tolerances = { visibilityMs: FAKE_VISIBILITY_MS, ...resolved.profile.tolerances };
  const profile = { ...resolved.profile, tolerances };
  return { resolved: { ...resolved, profile, source: undefined, sources: [] }, behaviour, stop: fake.stop };
};

/** What is asked of a load, as far as it may be refused for it. */
type AskedLoad = Pick<AskedRun, "scenario" | "rate" | "durationMs">;

/**
 * Refuses a load that this profile does not release or that k6 could not play, and returns the environment
 * in which its k6 is found. Throws ConfigurationError and InvalidLoad.
 */
export const refuseLoad = async (
  { environment }: CommandContext,
  resolved: Pick<ResolvedProfile, "profile">,
  asked: AskedLoad,
): Promise<NodeJS.ProcessEnv> => {
  const { checkPlan } = await import("../../scenarios/runner/index.ts");
  const { loadEnvironment } = await import("../../conformance/profile-load.ts");
  checkPlan(resolved, asked);
  return loadEnvironment(resolved.profile, environment);
};

/** Finds k6, or installs it, which is told line by line. */
export const findK6ForLoad = async (
  { environment, signal, output }: CommandContext,
  onProgress: (line: string) => void = output.say,
): Promise<FoundK6> => {
  const { findK6, runnerClock } = await import("../../scenarios/runner/index.ts");
  return findK6({ environment, clock: runnerClock, onProgress, signal });
};

export interface LoadRunFlags extends TargetFlags {
  readonly maxWait: number;
  readonly out?: string | undefined;
}

interface LoadNeeds {
  readonly asked: AskedLoad;
  readonly withPushes: boolean;
  /** Asked for only when the target may be loaded: to install k6 takes minutes. */
  readonly k6: () => Promise<FoundK6>;
  readonly live: LoadView;
}

/** A target as load runs take it, with everything that was opened for it. */
export const openLoad = async (
  context: CommandContext,
  flags: Omit<LoadRunFlags, "out">,
  needs: LoadNeeds,
): Promise<{ readonly context: LoadContext; readonly stop: () => Promise<void> }> => {
  const { rules } = await import("../../conformance/rules/index.ts");
  const { sweepTemporary } = await import("../../conformance/sweep.ts");
  sweepTemporary(tmpdir(), hostname());
  const target = await withReceiver(openLoadTarget(context, flags), needs.withPushes ? rules : []);
  try {
    const environment = await refuseLoad(context, target.resolved, needs.asked);
    const k6 = await needs.k6();
    return await loadContextOf(context, {
      target,
      environment,
      k6,
      live: needs.live,
      maxWaitMs: flags.maxWait,
    });
  } catch (error) {
    await target.stop();
    throw error;
  }
};

interface Opened {
  readonly target: Awaited<ReturnType<typeof withReceiver>>;
  readonly environment: NodeJS.ProcessEnv;
  readonly k6: FoundK6;
  readonly live: LoadView;
  readonly maxWaitMs: number;
}

const loadContextOf = async (
  { signal, freshUuid }: CommandContext,
  { target, environment, k6, live, maxWaitMs }: Opened,
) => {
  const { runnerClock } = await import("../../scenarios/runner/index.ts");
  const { limitsOf } = await import("../../conformance/session.ts");
  const { replacedLimits } = await import("../../conformance/conform.ts");
  const { openPushPorts } = await import("../../conformance/push-ports.ts");
  const { resolved, receiver } = target;
  const { profile } = resolved;
  const push =
    receiver === undefined ? undefined : openPushPorts(resolved, receiver, { maxWaitMs, signal, freshUuid });
  return {
    context: {
      target: {
        name: profile.name ?? new URL(profile.baseUrl).host,
        profile,
        clients: resolved.clients,
        profiles: resolved.sources,
        behaviour: target.behaviour,
        limits: limitsOf(resolved),
        replacedLimits: replacedLimits(resolved),
      },
      k6,
      environment,
      clock: runnerClock,
      signal,
      tool: tool.version,
      runKey: freshUuid(),
      push,
      onSecond: live.second,
      onPhase: live.phase,
    },
    stop: async () => {
      await push?.close();
      await target.stop();
    },
  };
};

/** Runs a load against the target that the flags name, and leaves its record. */
export const runLoad = async (
  context: CommandContext,
  flags: LoadRunFlags,
  asked: AskedRun,
  k6: () => Promise<FoundK6> = () => findK6ForLoad(context),
) => {
  const { loadByShape, runnerClock } = await import("../../scenarios/runner/index.ts");
  const { runDirectory } = await import("../../conformance/recorded-run.ts");
  const live = await loadProgress(context, asked.durationMs);
  const opened = await openLoad(context, flags, { asked, withPushes: asked.scenario === "push", k6, live });
  try {
    context.recordingBegins();
    const directory = flags.out ?? runDirectory(runnerClock.wallTime(), "load", context.freshUuid);
    return { record: await loadByShape(opened.context, asked, directory), directory };
  } finally {
    live.stop();
    await opened.stop();
  }
};
