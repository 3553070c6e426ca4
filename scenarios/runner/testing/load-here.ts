import { beforeAll } from "vitest";
import type { LoadRecord } from "../../../conformance/contract/load-record.ts";
import { runHere } from "../../../conformance/testing/run-here.ts";
import type { FoundK6 } from "../k6/find.ts";
import { k6ForTests, k6WithinMs } from "./k6.ts";

/** The k6 of load runs, which is there before the first test of a file. */
export const k6OfFile = (): FoundK6 => {
  const found = {} as FoundK6;
  beforeAll(async () => void Object.assign(found, await k6ForTests()), k6WithinMs);
  return found;
};

/** Runs `touchstone load` in this process, and gives the record that it prints. */
export const loadHere = async (k6: string, flags: string, ...more: readonly string[]) => {
  const parameters = ["load", "--json", ...flags.split(" "), ...more];
  const { stdout, stderr, exitCode } = await runHere(parameters, { env: { TOUCHSTONE_K6: k6 } });
  if (stdout === "") throw new Error(stderr);
  return { exitCode, record: JSON.parse(stdout) as LoadRecord };
};
