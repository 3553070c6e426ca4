import { hostname, tmpdir } from "node:os";
import { type ResolvedProfile, loadProfile } from "../../conformance/profile/profile.ts";
import { tool } from "../../conformance/record/tool.ts";
import {
  type FoundK6,
  type LoadContext,
  type LoadPlan,
  arrivalRateFor,
  checkPlan,
  findK6,
  k6GraceMs,
  load,
  neededFor,
  runnerClock,
  shortagesFor,
} from "../../scenarios/runner/index.ts";
import type { CommandContext } from "./context.ts";
import type { TargetFlags } from "./flags.ts";
import { createLoadLive, type LiveSecond } from "../../reports/terminal/progress.ts";
import { columnsOf } from "../../reports/terminal/palette.ts";
import { knownTo, openTarget, withReceiver, type OpenTarget } from "./target.ts";
import { startFakeProcess } from "../../fake-server/index.ts";
import { loadEnvironment } from "../../conformance/profile/profile-secret.ts";
import { rules } from "../../conformance/rules/index.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { sweepTemporary } from "../../conformance/files/folders.ts";
import { allowedHere } from "../../conformance/files/own-limits.ts";
import { limitsOf, replacedLimits } from "../../conformance/session/session.ts";
import { openPushPorts } from "../../conformance/session/push-ports.ts";
import { runDirectory } from "../../conformance/engine/recorded-run.ts";

/** No conforming behaviour of the fake takes longer to list a new notification. */
const FAKE_VISIBILITY_MS = 2_500;

/** How long an interrupted load asks the receiver for its pushes: five seconds, once k6 has ended. */
const ASKED_FOR_MS = k6GraceMs + 5_000;

/** The target of a load run. The fake runs in its own process, so that it takes no CPU time from the collector. */
const openLoadTarget = async (context: CommandContext, options: TargetFlags): Promise<OpenTarget> => {
  if (options.profile !== undefined) return openTarget(context, options);
  const { behaviour = "sound" } = options;
  const fake = await startFakeProcess([process.execPath, context.programFile], behaviour);
  const resolved = knownTo(context.output, await loadProfile(fake.profileFile, context.environment));
  // A load of seconds detects a loss only if it need not wait much longer for late notifications.
  const tolerances = { visibilityMs: FAKE_VISIBILITY_MS, ...resolved.profile.tolerances };
  // The same target as that of a gate, which has its fake within.
  const profile = { ...resolved.profile, name: `embedded fake (${behaviour})`, tolerances };
  return { resolved: { ...resolved, profile, sources: [] }, behaviour, stop: fake.stop };
};

type AskedLoad = Pick<LoadPlan, "scenario" | "rate" | "durationMs" | "segment"> &
  Partial<Pick<LoadPlan, "virtualUsers">>;

/**
 * Refuses a load that the profile does not permit or k6 cannot play; returns the environment for finding k6. Throws
 * ConfigurationError.
 */
export const refuseLoad = async (
  { environment }: CommandContext,
  resolved: Pick<ResolvedProfile, "profile">,
  asked: AskedLoad,
): Promise<NodeJS.ProcessEnv> => {
  checkPlan(resolved, asked);
  return loadEnvironment(resolved.profile, environment);
};

export const findK6ForLoad = async (
  { environment, signal, output }: CommandContext,
  onProgress: (line: string) => void = output.say,
): Promise<FoundK6> => findK6({ environment, clock: runnerClock, onProgress, signal });

export interface LoadRunFlags extends TargetFlags {
  readonly maxWait: number;
  readonly out?: string | undefined;
  readonly verboseK6?: true | undefined;
}

interface LoadNeeds {
  readonly asked: AskedLoad;
  readonly withPushes: boolean;
  /** Called only if the target may be loaded, because installing k6 takes minutes. */
  readonly k6: () => Promise<FoundK6>;
  readonly live: LoadView;
}

export const openLoad = async (
  context: CommandContext,
  { maxWait: maxWaitMs, verboseK6, ...flags }: Omit<LoadRunFlags, "out">,
  { asked, withPushes, k6, live }: LoadNeeds,
): Promise<{ readonly context: LoadContext; readonly stop: () => Promise<void> }> => {
  const { signal, freshUuid } = context;
  sweepTemporary(tmpdir(), hostname());
  const target = await withReceiver(openLoadTarget(context, flags), withPushes ? rules : []);
  const { resolved, receiver } = target;
  const { profile } = resolved;
  try {
    const environment = await refuseLoad(context, resolved, asked);
    const found = await k6();
    for (const { limit, text, remedy } of shortagesFor(neededFor(asked, profile), allowedHere())) {
      // The embedded fake opens as many files, and fails first; ports are only the generator's.
      if (target.behaviour !== undefined && limit === "open files")
        throw new ConfigurationError(`this machine is too small for the load: ${text}; ${remedy}`);
      live.say(`The load generator may be too small for this load: ${text}. To allow more: ${remedy}.`);
    }
    const push =
      receiver &&
      openPushPorts(resolved, receiver, { maxWaitMs, signal, freshUuid, askedForMs: ASKED_FOR_MS });
    return {
      context: {
        target: {
          name: profile.name ?? new URL(profile.baseUrl).host,
          profile,
          clients: resolved.clients,
          clientCertificate: resolved.network?.clientCertificate,
          profiles: resolved.sources,
          behaviour: target.behaviour,
          limits: limitsOf(resolved),
          replacedLimits: replacedLimits(resolved),
        },
        k6: found,
        environment,
        clock: runnerClock,
        signal,
        tool: tool.version,
        runKey: freshUuid(),
        push,
        onLog: verboseK6 === true ? (line: string) => live.say(`k6: ${line}`) : undefined,
        onDashboard: (address: string) => live.say(`Dashboard ${address}`),
        onSecond: live.second,
        onPhase: live.phase,
      },
      stop: async () => {
        await push?.close();
        await target.stop();
      },
    };
  } catch (error) {
    await target.stop();
    throw error;
  }
};

export const runLoad = async (
  context: CommandContext,
  flags: LoadRunFlags,
  asked: LoadPlan,
  k6: () => Promise<FoundK6> = () => findK6ForLoad(context),
) => {
  const live = loadProgress(context, asked);
  const opened = await openLoad(context, flags, { asked, withPushes: asked.scenario === "push", k6, live });
  try {
    context.recordingBegins();
    const directory = flags.out ?? runDirectory(runnerClock.wallTime(), "load", context.freshUuid);
    return { record: await load(opened.context, asked, directory), directory };
  } finally {
    live.stop();
    await opened.stop();
  }
};

interface LoadView {
  readonly second: (second: LiveSecond) => void;
  readonly phase: (phase: string | undefined) => void;
  /** Prints a line that stays. */
  readonly say: (line: string) => void;
}

const loadProgress = (
  context: CommandContext,
  { scenario, rate, durationMs }: LoadPlan,
): LoadView & { readonly stop: () => void } => {
  const seconds: LiveSecond[] = [];
  const requestsPerIteration = rate / arrivalRateFor(scenario, rate);
  let now: string | undefined;
  const { live: stream } = context.output;
  const { palette } = context.output.page();
  const live = createLoadLive(stream, { palette, columns: columnsOf(stream) });
  const show = (): void => {
    if (!context.output.isSilent()) live.show({ seconds, durationMs, requestsPerIteration, phase: now });
  };
  return {
    second: (second) => {
      seconds.push(second);
      show();
    },
    phase: (phase) => {
      now = phase;
      show();
    },
    say: (line) => {
      live.clear();
      context.output.say(line);
      show();
    },
    stop: () => live.clear(),
  };
};
