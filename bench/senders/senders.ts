import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { mapLimited } from "../../conformance/checks/map-limited.ts";
import { isAsked } from "../asked.ts";
import type { RuleDocument } from "../../reports/json/conform.ts";
import { faketimeLibrary } from "../foreign/services.ts";
import { root, seconds } from "../../conformance/testing/measure.ts";
import { install, lacks } from "./install.ts";
import { judgeCase, type Case } from "./one-case.ts";
import { makePostgres } from "./processes.ts";
import { queues, settings, type Fault, type Programs } from "./queues.ts";

/** Queues mostly wait, so many run side by side; and of each, so many cases. */
const QUEUES_AT_ONCE = 3;
const CASES_AT_ONCE = 2;

const columns = (...cells: readonly string[]): void => {
  const widths = [16, 14, 17, 9];
  process.stdout.write(`${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" ")}\n`);
};

const isOfNote = ({ verdict }: RuleDocument): boolean =>
  !["passed", "observed", "not-applicable"].includes(verdict);

/** Whether a fault was found under its rule, or no breach was seen of a sender that keeps the document. */
const judgementOf = ({ queue, fault }: Case, rules: readonly RuleDocument[]): string => {
  const expected = queue.faults[fault] ?? [];
  const of = (...kinds: RuleDocument["verdict"][]) =>
    rules.filter(({ verdict }) => kinds.includes(verdict)).map(({ id }) => id);
  const failed = of("failed");
  if (expected.some((id) => failed.includes(id))) return "found";
  const showsByChance = fault === "worker-killed" && queue.losesInFlight === true;
  if (expected.length > 0 && !showsByChance) return "MISSED";
  if (failed.length > 0) return "WRONG";
  return of("inconclusive", "could-not-run", "harness-error").length > 0 ? "undecided" : "right";
};

/** The verdicts of note, those with one sentence together. */
const linesOf = (rules: readonly RuleDocument[]): readonly string[] => {
  const sentences = Map.groupBy(
    rules.filter(isOfNote),
    ({ verdict, breach, reason }) => `${verdict}: ${breach?.actual ?? reason ?? ""}`,
  );
  return [...sentences].map(([sentence, ofIt]) => {
    const named = ofIt.length > 5 ? `${ofIt.length} rules` : ofIt.map(({ id }) => id).join(", ");
    return `${named} ${sentence}`;
  });
};

/**
 * The job queues that teams use, as senders of pushes: each judged by the push rules, sound and with its usual faults.
 *
 *   SENDERS_QUEUES=bullmq,celery SENDERS_SETTINGS=shortened,libfaketime,document SENDERS_FAULTS=none,short-lock
 *
 * The delays of the document take 21 minutes in real time, so that setting must be asked for.
 */
export const senders = async (): Promise<void> => {
  const cache = path.join(root, "node_modules/.cache/senders");
  mkdirSync(cache, { recursive: true });
  // PostgreSQL may run as another user, who must be able to read the file of libfaketime.
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-senders-"));
  chmodSync(folder, 0o755);
  const isKept = process.env["SENDERS_KEEP"] !== undefined;
  process.once("exit", () => isKept || rmSync(folder, { recursive: true, force: true }));
  const store = mkdtempSync(path.join(os.tmpdir(), "touchstone-postgres-"));
  process.once("exit", () => rmSync(store, { recursive: true, force: true }));
  const programs = new Map<string, Programs>();
  for (const queue of queues.filter(({ name }) => isAsked("SENDERS_QUEUES", name))) {
    const missing = await lacks(queue);
    if (missing.length === 0) programs.set(queue.name, await install(cache, queue));
    else process.stdout.write(`${queue.name}: skipped, this machine has no ${missing.join(" and no ")}\n`);
  }
  const wanted = settings.filter(({ name }) => isAsked("SENDERS_SETTINGS", name, "shortened,libfaketime"));
  if (faketimeLibrary === undefined) process.stdout.write("libfaketime: skipped, it is not installed\n");
  const settingsHere = wanted.filter(({ faketime }) => !faketime || faketimeLibrary !== undefined);
  const chosen = queues.filter(({ name }) => programs.has(name));
  const needsPostgres = chosen.some(({ store: kept }) => kept === "PostgreSQL");
  const cluster = needsPostgres ? makePostgres(store) : undefined;
  columns("queue", "setting", "fault", "judged", "seconds; rules that are neither passed nor observed");
  await mapLimited(chosen, QUEUES_AT_ONCE, async (queue) => {
    const faults = (Object.keys(queue.faults) as Fault[]).filter((fault) => isAsked("SENDERS_FAULTS", fault));
    const movable = settingsHere.filter(({ faketime }) => !faketime || queue.monotonicIsReal !== undefined);
    if (movable.length < settingsHere.length)
      process.stdout.write(
        `${queue.name}: no libfaketime, ${queue.language} does not ask libc for the time\n`,
      );
    const cases = movable.flatMap((setting) => faults.map((fault): Case => ({ queue, setting, fault })));
    await mapLimited(cases, CASES_AT_ONCE, (one) =>
      play(one, folder, cluster, programs.get(queue.name) ?? { command: [] }),
    );
  });
};

const play = async (
  one: Case,
  base: string,
  cluster: string | undefined,
  programs: Programs,
): Promise<void> => {
  const { queue, setting, fault } = one;
  const folder = path.join(base, `${queue.name}-${setting.name}-${fault}`);
  mkdirSync(folder);
  try {
    const { document, late, wallMs } = await judgeCase(one, { folder, cluster, programs });
    const judged = judgementOf(one, document.rules);
    const lateness =
      late !== undefined && fault === "none"
        ? `; retries late by ${late.map(seconds).join(" (median), ")} (nine in ten at most)`
        : "";
    columns(queue.name, setting.name, fault, judged, `${seconds(wallMs)}${lateness}`);
    for (const line of linesOf(document.rules)) process.stdout.write(`    ${line}\n`);
  } catch (error) {
    columns(queue.name, setting.name, fault, "NOT RUN", String(error).slice(0, 2_000));
  }
};
