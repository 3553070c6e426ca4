import { expect, it } from "vitest";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { UnfinishedRecord } from "../../conformance/contract/problem.ts";
import { conclude, withVerdict } from "./conclude.ts";
import type { CommandContext } from "./context.ts";

const contextOf = () => {
  const printed: string[] = [];
  const codes: number[] = [];
  const context = {
    environment: {},
    programName: "touchstone",
    output: { complain: (line: string) => printed.push(line), manner: () => ({ json: false }) },
    exitWith: (code: number) => codes.push(code),
  } as unknown as CommandContext;
  return { context, printed, codes };
};

it("a failed run keeps its exit code if its record could not be completed; a passed one becomes a harness error", async () => {
  const record = { exitCode: 1 };
  const cut = new UnfinishedRecord({ directory: "runs/x", record }, "the disk is full");
  const run = withVerdict<typeof record>(Promise.reject(cut));
  expect(await run).toEqual({
    record,
    directory: "runs/x",
    trouble: "the record in runs/x could not be completed: the disk is full",
  });
  const passed = new UnfinishedRecord({ directory: "runs/x", record: { exitCode: 0 } }, "the disk is full");
  expect((await withVerdict<typeof record>(Promise.reject(passed))).record).toEqual({
    exitCode: exitCodes["harness-error"],
  });
  await expect(withVerdict<typeof record>(Promise.reject(new TypeError("x")))).rejects.toThrow(TypeError);
});

it.each([
  ["a failed run still exits with 1 if its record is incomplete", exitCodes.failed, exitCodes.failed],
  [
    "a passed run exits with a harness error if its record is incomplete",
    exitCodes.passed,
    exitCodes["harness-error"],
  ],
])("%s", async (_, exitCode, expected) => {
  const { context, printed, codes } = contextOf();
  const ran = [{ record: { exitCode }, directory: "runs/x", trouble: "the disk is full" }];
  await conclude(context, ran, {}, (code) => printed.push(`Exit code ${code}.`));
  expect(printed).toEqual([`Exit code ${expected}.`, "touchstone: the disk is full"]);
  expect(codes.at(-1)).toBe(expected);
  await conclude(context, ran, {});
  expect(printed.at(-1)).toBe(
    `touchstone: the disk is full${exitCode === expected ? "" : `; exit code ${expected}`}`,
  );
});

it.each([
  [[3, 1], exitCodes.failed],
  [[6, 1], exitCodes.failed],
  [[5, 1], exitCodes.failed],
  [[6, 3], exitCodes.incomplete],
  [[3, 5], exitCodes["harness-error"]],
  [[0, 6], exitCodes.drifted],
  [[3, 130], exitCodes.interrupted],
  [[0, 0], exitCodes.passed],
])("runs with the exit codes %j end with the worst, %d", async (ended, expected) => {
  const { context, codes } = contextOf();
  const ran = ended.map((exitCode) => ({ record: { exitCode }, directory: "runs/x" }));
  await conclude(context, ran, {});
  expect(codes).toEqual([expected]);
});

it("prints one line and keeps the exit code if a report cannot be written", async () => {
  const { context, printed, codes } = contextOf();
  const ran = [{ record: { exitCode: exitCodes.failed }, directory: "/nowhere/at/all" }];
  expect(await conclude(context, ran, { report: ["junit"] })).toEqual({
    files: [],
    exitCode: exitCodes.failed,
  });
  expect(printed.join("\n")).toContain("/nowhere/at/all");
  expect(codes.at(-1)).toBe(exitCodes.failed);
});
