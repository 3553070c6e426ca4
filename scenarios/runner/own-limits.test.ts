import { expect, it } from "vitest";
import { judgeValidity } from "./judge/validity.ts";
import { neededFor, shortagesFor } from "./own-limits.ts";

it("a load needs connections for its virtual users, and each segment for its own", () => {
  const plan = { scenario: "token", rate: 300 } as const;
  const needed = neededFor(plan, {});
  expect(needed["local ports"]).toBeGreaterThan(150);
  expect(needed["open files"]).toBeGreaterThan(needed["local ports"]);
  const segment = { runId: "R", index: 1, count: 4, startAtMs: 0 };
  expect(neededFor({ ...plan, segment }, {})["local ports"]).toBeLessThan(needed["local ports"] / 3);
  const shortages = shortagesFor(needed, { "open files": 64, "local ports": 150 });
  expect(shortages.map(({ text }) => text)).toEqual([
    `${needed["open files"]} open files are needed, and 64 allowed`,
    `${needed["local ports"]} local ports are needed, and 150 allowed`,
  ]);
  expect(shortagesFor(needed, { "open files": 20_000, "local ports": 28_232 })).toEqual([]);
  expect(shortagesFor(needed, {})).toEqual([]);
});

it("what the load generator could not send makes a load invalid, whatever else happened", () => {
  const achieved = {
    arrivalsAsked: 30,
    arrivals: 30,
    dropped: 4,
    requests: 5,
    requestsPerSecond: 1,
    seconds: 3,
  };
  const unsent = { "local ports": 127, "open files": 1 };
  const evidence = { whole: true, virtualUsers: { ready: 9, most: 9 }, cores: 2 };
  const { valid, reasons } = judgeValidity({ ...evidence, achieved: { ...achieved, unsent } });
  expect(valid).toBe(false);
  expect(reasons.map(({ cause, reason }) => [cause, reason])).toEqual([
    ["load generator", "the load generator ran out of local ports, and could not send 127 requests"],
    ["load generator", "the load generator ran out of open files, and could not send 1 request"],
  ]);
});
