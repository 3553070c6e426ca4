import path from "node:path";
import { writeFile } from "node:fs/promises";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { secretsInProfile } from "../../conformance/contract/profile-fetched.ts";
import { endedBy } from "../../conformance/contract/outcome.ts";
import { errorMessage } from "../../conformance/contract/text.ts";
import { traits } from "../lib/mix.ts";
import { noAnswer } from "../protocol.ts";
import { checkPlan } from "./asked-run.ts";
import { KEPT_PER_RULE } from "./collect/breaches.ts";
import { runLoad, type LoadResult } from "./collect/collect.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { headerOf } from "./header.ts";
import { createAbortWatch, usualAbortRule, firstsOfEach } from "./judge/validity.ts";
import { createRampWatch, type RampWatch } from "./ramp.ts";
import { verdictsOf } from "./verdicts.ts";
import { watchPushes } from "./push/watch.ts";
import { nowhere, openLoadRecord, type LoadFinal, type LoadRecordWriter } from "./record.ts";
import { playSegment } from "./segment/play.ts";
import { digestKeyOf } from "./segment-plan.ts";
import { scriptSettings } from "./settings.ts";
import { temporaryFolder } from "../../conformance/files/folders.ts";
import { ConfigurationError, UnreachableError } from "../../conformance/contract/problem.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { fileURLToPath } from "node:url";

/**
 * Runs one load: a preflight of every step by one virtual user, then the load with a record that grows second by
 * second, then the verdicts. Throws ConfigurationError if the run makes no sense, K6Failed if k6 cannot be started or
 * its samples cannot be read.
 */
export const load = async (context: LoadContext, plan: LoadPlan, out: string): Promise<LoadRecord> => {
  checkPlan(context.target, plan);
  using folder = temporaryFolder("load");
  // Awaited, because the folder is removed at the return.
  return await recorded(context, plan, out, async (writer) => {
    const script = await scriptFor(folder.path);
    using pushes = traits[plan.scenario].events === "needed" ? await watchPushes(context, out) : undefined;
    if (plan.isKnown !== true) await preflight(context, plan, script, pushes?.accounts);
    const watch = plan.shape === "breakpoint" ? createRampWatch(context.target.profile, plan) : undefined;
    const play = () => run(context, plan, { script, writer, pushes, watch });
    if (plan.segment !== undefined) return playSegment(context, plan, plan.segment, play);
    const result = await play();
    const pushed = await pushes?.finish(result, plan);
    context.onPhase?.(undefined);
    const broken = firstsOfEach(pushed?.judgement.breaches ?? [], KEPT_PER_RULE);
    for (const breach of broken) writer.breach(breach);
    return verdictsOf(context, plan, result, { pushed, ramp: watch?.ramp() });
  });
};

/** Keeps a record of what is played, and seals it, also if an error cuts it short. */
const recorded = async (
  context: LoadContext,
  plan: LoadPlan,
  out: string,
  play: (writer: LoadRecordWriter) => Promise<LoadFinal>,
): Promise<LoadRecord> => {
  using writer = openLoadRecord(out, headerOf(context, plan));
  try {
    return writer.seal(await play(writer));
  } catch (error) {
    sealBroken(context, writer, error);
    if (error instanceof UnreachableError) error.record = writer.directory;
    throw error;
  }
};

/** What preflight and load have in common. */
const inBoth = ({ k6, environment, clock, signal, target }: LoadContext, script: string) => ({
  k6,
  environment,
  clock,
  signal,
  script,
  hidden: secretsInProfile(target.profile),
});

/** One iteration by one virtual user: what fails here would fail a thousand times. */
const preflight = async (
  context: LoadContext,
  plan: LoadPlan,
  script: string,
  accounts: readonly string[] | undefined,
): Promise<void> => {
  context.onPhase?.("preflight");
  const { signal, target, runKey } = context;
  const settings = scriptSettings(target, plan, { runKey: `${runKey} before`, preflight: true, accounts });
  const { troubles, exceptions, end } = await runLoad({
    ...inBoth(context, script),
    settings,
    sink: nowhere,
    warmUpMs: 0,
  });
  if (signal.aborted) return;
  const reasons = [...troubles, ...exceptions.first.map((first) => `the script failed: ${first}`)];
  const silent = troubles.map(noAnswer.reasonIn).find((reason) => reason !== undefined);
  if (silent !== undefined && exceptions.count === 0)
    throw new UnreachableError(
      `${target.profile.baseUrl} cannot be reached: ${silent}. ${/certificate required|bad certificate/.test(silent) ? "Name a client certificate that it accepts under `network.clientCertificate`" : "Start the service, or correct baseUrl in the profile"}`,
    );
  if (reasons.length > 0)
    throw new ConfigurationError([`the preflight of ${plan.scenario} failed:`, ...reasons]);
  if (end.says !== "finished")
    throw new ConfigurationError([`the preflight of ${plan.scenario} failed: k6 ${end.meaning}`]);
};

interface Parts {
  readonly script: string;
  readonly writer: LoadRecordWriter;
  readonly pushes: Awaited<ReturnType<typeof watchPushes>> | undefined;
  readonly watch: RampWatch | undefined;
}

const run = (
  context: LoadContext,
  plan: LoadPlan,
  { script, writer, pushes, watch }: Parts,
): Promise<LoadResult> => {
  const { target, runKey, onSecond, onPhase, onLog } = context;
  onPhase?.(undefined);
  const giveUp = createAbortWatch({ ...usualAbortRule, ...target.profile.safety?.abort });
  const log = (line: string): void => {
    onLog?.(line);
    writer.log(line);
  };
  // A key per run creates new accounts, so that the run does not find what earlier runs wrote.
  const key =
    plan.segment === undefined
      ? `${runKey} ${writer.directory}`
      : digestKeyOf(
          plan.segment,
          target.clients.map(({ secret }) => secret),
        );
  return runLoad({
    ...inBoth(context, script),
    settings: scriptSettings(target, plan, { runKey: key, preflight: false, accounts: pushes?.accounts }),
    sink: { ...writer, log },
    output: plan.k6Output && { name: plan.k6Output, tags: tagsOf(plan, writer) },
    onDashboard: context.onDashboard,
    warmUpMs: plan.warmUpMs,
    ...(pushes && { onEvent: pushes.onEvent }),
    onSecond: (second) => {
      onSecond?.(second);
      pushes?.follow();
      return watch?.add(second) ?? giveUp(second.line);
    },
  });
};

/** Tags that distinguish this run's series: its name and its machine. */
const tagsOf = ({ segment }: LoadPlan, { directory }: LoadRecordWriter) => ({
  testid: segment?.runId ?? path.basename(path.resolve(directory)),
  instance_id: String(segment?.index ?? 1),
});

const sealBroken = ({ clock, signal }: LoadContext, writer: LoadRecordWriter, error: unknown): void => {
  const interrupted = { outcome: "interrupted", exitCode: exitCodes.interrupted } as const;
  try {
    writer.seal({
      endedAt: clock.wallTime().toISOString(),
      ...(signal.aborted ? interrupted : endedBy(error)),
      notes: [errorMessage(error)],
    });
  } catch {
    // If the record cannot be written either, the first error says more than the second.
  }
};

/** A checkout runs this source file; the package runs a bundle next to the built scripts. */
const isCheckout = import.meta.url.endsWith(".ts");

/**
 * The file that k6 runs: one module with all scenarios and their imports except k6's own, because k6 resolves no
 * packages. In a checkout it is bundled into `folder`, which must exist; the package includes it prebuilt.
 */
export const scriptFor = async (folder: string): Promise<string> => {
  if (!isCheckout) return fileURLToPath(new URL("scenarios/main.js", import.meta.url));
  const file = path.join(folder, "main.js");
  await writeFile(file, await bundle());
  return file;
};

const bundle = async (): Promise<string> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../main.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["k6", "k6/*"],
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
};
