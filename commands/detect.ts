import { spawn } from "node:child_process";
import { once } from "node:events";
import type { DetectReport } from "../conformance/contract/detect.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import type { Effort } from "../conformance/checks/effort.ts";
import { openTarget, withReceiver, type OpenTarget } from "./shared/target.ts";
import { given } from "../conformance/contract/given.ts";
import { detectPatienceMs, type TakeNext } from "../conformance/engine/detect.ts";
import {
  mergeDetections,
  parseShard,
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
  const { jobs } = flags;
  const shard = parseShard(flags.shard);
  refuseUnknown(flags.behaviour ?? [], Object.keys({ ...defects, ...variants }));
  let handedOut = 0;
  const next = (): number => handedOut++;
  const report =
    jobs === 1
      ? await detectHere(context, asked, shard, flags.handedOut === true)
      : mergeDetections(
          await Promise.all(
            Array.from({ length: jobs }, () => detectInChild(context, asked, flags.shard, next)),
          ),
        );
  const { output, signal, exitWith } = context;
  if (signal.aborted && !output.manner().json) output.say(interruptedDetection(report));
  else show(output, detectDoc(report), report);
  if (signal.aborted) exitWith(exitCodes.interrupted);
  else if (report.defects.survivors.length + report.variants.falseAlarms.length > 0)
    exitWith(exitCodes.failed);
  else if (report.variants.unsettled.length > 0) exitWith(exitCodes.incomplete);
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
  isHandedOut: boolean,
): Promise<DetectReport> => {
  using handed = isHandedOut ? takenFromParent(context.signal) : undefined;
  return await detectShard(shard, {
    ...given({ next: handed?.next }),
    defects,
    variants: full ? Object.keys(variants).map((name) => [name]) : bundlesOf(variants),
    leavesOpen: Object.fromEntries(
      Object.entries(variants).map(([name, { leavesOpen = [] }]) => [name, leavesOpen]),
    ),
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
};

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

/**
 * Takes positions from the parent process, which hands them out to all its children; one call at a time. Fixed parts
 * would take a detection on two cores a fifth longer, because their contents differ.
 */
const takenFromParent = (signal: AbortSignal): { readonly next: TakeNext } & Disposable => {
  // Without a parent nobody reads what the rest would show.
  const interrupt = (): void => void process.emit("SIGINT", "SIGINT");
  process.once("disconnect", interrupt);
  const next = async (): Promise<number> => {
    const answer = once(process, "message", { signal }).catch(() => [Infinity]);
    // If the channel closes meanwhile, that interrupts; the error of sending would say it again.
    if (process.connected) process.send?.("next", () => undefined);
    return Number((await answer)[0]);
  };
  // A listener keeps this process alive.
  return { next, [Symbol.dispose]: () => void process.off("disconnect", interrupt) };
};

/** Judges what `next` hands out in a child process, which runs this command and prints its report as JSON. */
const detectInChild = (
  { programFile, output, signal }: CommandContext,
  { full, effort, seed, names }: AskedDetection,
  shard: string | undefined,
  next: () => number,
): Promise<DetectReport> => {
  const parameters = [
    "detect",
    "--json",
    "--jobs=1",
    "--handed-out",
    ...(shard === undefined ? [] : [`--shard=${shard}`]),
    `--seed=${seed}`,
    `--effort=${effort}`,
    ...(full ? ["--full"] : []),
    ...(names === undefined ? [] : [`--behaviour=${names.join(",")}`]),
  ];
  const { quiet, json } = output.manner();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [programFile, ...parameters], {
      stdio: ["ignore", "pipe", quiet || json ? "ignore" : "inherit", "ipc"],
    });
    // A signal from a terminal reaches the children too, but one to this process alone does not.
    const interrupt = (): void => void child.kill("SIGINT");
    signal.addEventListener("abort", interrupt, { once: true });
    child.on("message", () => child.send(next()));
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
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
