import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { k6ForTests, k6WithinMs } from "./testing/k6.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/**
 * Defects that only load shows, each found under the rule that it breaks and under no other. All of
 * them are tried by `npm run bench -- load-detect`; here is one for each scenario.
 */

const folder = folderOfFile();
let k6: string;
beforeAll(async () => {
  k6 = (await k6ForTests()).path;
}, k6WithinMs);
interface Asked {
  readonly behaviour: string;
  readonly scenario: string;
  readonly rate: number;
  readonly seconds: number;
}

const load = async ({ behaviour, scenario, rate, seconds }: Asked) => {
  const { stdout, stderr, exitCode } = await runHere(
    `load --json --behaviour ${behaviour} --scenario ${scenario} --rate ${rate} --duration ${seconds}s`
      .split(" ")
      .concat("--seed", "1", "--warm-up", "1s", "--out", path.join(folder, behaviour)),
    { env: { TOUCHSTONE_K6: k6 } },
  );
  if (stdout === "") throw new Error(stderr);
  const { rules, outcome, breaches, validity } = JSON.parse(stdout) as LoadRecord;
  const broken = rules.filter((rule) => rule.breaches > 0).map(({ id }) => id);
  const blamed = validity?.reasons.some(({ cause }) => cause === "load generator") === true;
  return { found: { broken, outcome, exitCode, proven: breaches.map(({ rule }) => rule) }, blamed };
};

/** One after another: side by side they would take the load from each other. */
describe("a load finds what breaks only under load", () => {
  it.for([
    ["authorize.echoes-state", "load-answers-swapped", "token", 400, 5],
    ["notifications.under-writes", "load-page-shifted-by-writes", "notifications", 400, 6],
    ["refresh.reusable", "load-refresh-tokens-evicted", "mixed", 150, 5],
    ["push.delivered", "load-push-outbox-overflows", "push", 150, 4],
  ] as const)("%s: %s", async ([rule, behaviour, scenario, rate, seconds]) => {
    const { found, blamed } = await load({ behaviour, scenario, rate, seconds });
    // A load that this machine could not make shows nothing, and then it is neither green nor the service's fault.
    const unmade = { broken: [], outcome: "incomplete", exitCode: 3, proven: [] };
    const breach = { broken: [rule], outcome: "failed", exitCode: 1, proven: [rule] };
    expect(found).toEqual(blamed && found.broken.length === 0 ? unmade : breach);
  });
});
