import { expect, it } from "vitest";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { UnfinishedRecord } from "../../conformance/contract/problem.ts";
import { conclude, withVerdict } from "./conclude.ts";
import type { CommandContext } from "./context.ts";

const contextOf = () => {
  const told: string[] = [];
  const codes: number[] = [];
  const context = {
    environment: {},
    programName: "touchstone",
    output: { complain: (line: string) => told.push(line), manner: () => ({ json: false }) },
    exitWith: (code: number) => codes.push(code),
  } as unknown as CommandContext;
  return { context, told, codes };
};

it("a run keeps its verdict if its record could not be completed", async () => {
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
  ["a broken promise stays broken", exitCodes.failed, exitCodes.failed],
  ["a pass without its record is not a pass", exitCodes.passed, exitCodes["harness-error"]],
])("%s", async (_, exitCode, comesTo) => {
  const { context, told, codes } = contextOf();
  const ran = [{ record: { exitCode }, directory: "runs/x", trouble: "the disk is full" }];
  await conclude(context, ran, {}, { show: (code) => told.push(`Exit code ${code}.`) });
  expect(told).toEqual([`Exit code ${comesTo}.`, "touchstone: the disk is full"]);
  expect(codes.at(-1)).toBe(comesTo);
  await conclude(context, ran, {});
  expect(told.at(-1)).toBe(
    `touchstone: the disk is full${exitCode === comesTo ? "" : `; exit code ${comesTo}`}`,
  );
});

it("a report that cannot be written is reported in one line", async () => {
  const { context, told, codes } = contextOf();
  const ran = [{ record: { exitCode: exitCodes.failed }, directory: "/nowhere/at/all" }];
  expect(await conclude(context, ran, { report: ["junit"] })).toEqual({
    files: [],
    exitCode: exitCodes.failed,
  });
  expect(told.join("\n")).toContain("/nowhere/at/all");
  expect(codes.at(-1)).toBe(exitCodes.failed);
});
