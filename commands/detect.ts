import { spawn } from "node:child_process";
import type { DetectReport } from "../conformance/contract/detect.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import type { Effort } from "../conformance/checks/effort.ts";
import { openTarget, withReceiver, type OpenTarget } from "./shared/target.ts";
import { detectPatienceMs } from "../conformance/engine/detect.ts";
import {
  mergeDetections,
  parseShard,
  partsOf,
  detectShard,
  refuseUnknown,
  type Shard,
} from "../conformance/engine/detect-shards.ts";
import type { Rule } from "../conformance/checks/rule.ts";
import { rules } from "../conformance/rules/index.ts";
import { detectDoc, interruptedDetection } from "../reports/document/detect.ts";
import type { detect as definition } from "./flags/gate.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";
import { bundlesOf, defects, joint, variants } from "../fake-server/index.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const full = flags.full === true;
  const asked: AskedDetection = {
    full,
    effort: flags.effort ?? (full ? "standard" : "quick"),
    seed: flags.seed ?? context.freshSeed(),
    names: flags.behaviour,
  };
  const shard = parseShard(flags.shard);
  refuseUnknown(flags.behaviour ?? [], Object.keys({ ...defects, ...variants }));
  const report =
    flags.jobs === 1
      ? await detectHere(context, asked, shard)
      : mergeDetections(
          await Promise.all(partsOf(shard, flags.jobs).map((part) => detectInChild(context, asked, part))),
        );
  const { output, signal, exitWith } = context;
  if (signal.aborted && !output.manner().json) output.say(interruptedDetection(report));
  else show(output, detectDoc(report), report);
  if (signal.aborted) exitWith(exitCodes.interrupted);
  else if (report.defects.survivors.length + report.variants.falseAlarms.length > 0)
    exitWith(exitCodes.failed);
  else if ((report.variants.unsettled ?? []).length > 0) exitWith(exitCodes.incomplete);
};

interface AskedDetection {
  readonly full: boolean;
  readonly effort: Effort;
  readonly seed: number;
  readonly names: readonly string[] | undefined;
}

const detectHere = async (
  context: CommandContext,
  { full, effort, seed, names }: AskedDetection,
  shard: Shard,
): Promise<DetectReport> =>
  detectShard(shard, {
    defects,
    variants: full ? Object.keys(variants).map((name) => [name]) : bundlesOf(variants),
    joint,
    ...(names === undefined ? {} : { names }),
    rules,
    start: (behaviour, judging) => withReceiver(openFake(context, behaviour, judging), judging),
    effort,
    seed,
    full,
    freshUuid: context.freshUuid,
    signal: context.signal,
    onSubject: ({ name }) => context.output.say(`  ${name}`),
  });

/**
 * A fake that pushes over TLS only if a rule or defect depends on certificates: handshakes cost a third of a push run.
 */
const openFake = async (
  context: CommandContext,
  behaviour: string,
  judging: readonly Rule[],
): Promise<OpenTarget> => {
  const { resolved, ...target } = await openTarget(context, { behaviour, patienceMs: detectPatienceMs });
  const scheme =
    behaviour.includes("untrusted") ||
    judging.some(({ requirement }) => requirement === "push.certificate-check")
      ? "https"
      : "http";
  return { ...target, resolved: { ...resolved, receiver: { kind: "listen", scheme } } };
};

/** Judges a part in a child process, which runs this command and prints its report as JSON. */
const detectInChild = (
  { programFile, output, signal }: CommandContext,
  { full, effort, seed, names }: AskedDetection,
  shard: string,
): Promise<DetectReport> => {
  const parameters = [
    "detect",
    "--json",
    "--jobs=1",
    `--shard=${shard}`,
    `--seed=${seed}`,
    `--effort=${effort}`,
    ...(full ? ["--full"] : []),
    ...(names === undefined ? [] : [`--behaviour=${names.join(",")}`]),
  ];
  const { quiet, json } = output.manner();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [programFile, ...parameters], {
      stdio: ["ignore", "pipe", quiet || json ? "ignore" : "inherit"],
    });
    // A signal from a terminal reaches the children too, but one to this process alone does not.
    const interrupt = (): void => void child.kill("SIGINT");
    signal.addEventListener("abort", interrupt, { once: true });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      signal.removeEventListener("abort", interrupt);
      try {
        resolve(JSON.parse(text) as DetectReport);
      } catch {
        reject(new Error(`a part of the detection ended with exit code ${code} without a report`));
      }
    });
  });
};
