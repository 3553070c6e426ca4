import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { runHere, startHere } from "../../conformance/testing/run-here.ts";
import { k6OfFile } from "./testing/load-here.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/** `touchstone load` and `touchstone run` with the real k6, and the fake in its own process. */

const folder = folderOfFile();
const k6 = k6OfFile();
let files = 0;
const fresh = (): string => path.join(folder, `run-${(files += 1)}`);

it("run --k6-out web-dashboard serves k6's dashboard during the load, and ends with it although a browser stays", async () => {
  const asked = ["run", "--only", "code.unknown", "--rate", "20", "--duration", "3s", "--out", fresh()];
  const { promise: isUp, resolve } = Promise.withResolvers<string>();
  const { ended } = startHere([...asked, "--k6-out", "web-dashboard"], { TOUCHSTONE_K6: k6.path }, (text) => {
    const [, address] = /^Dashboard (http:\/\/127\.0\.0\.1:\d+\/)$/m.exec(text) ?? [];
    if (address !== undefined) resolve(address);
  });
  const address = await isUp;
  const events = await fetch(`${address}events`);
  const page = await fetch(address);
  expect(await page.text()).toContain("k6 dashboard");
  // Incomplete if the machine was too busy for this load.
  expect([0, 3]).toContain(await ended);
  expect(await events.text().catch(() => "cut off")).toBe("cut off");
});

it.concurrent.each([
  ["the gate", "push.schedule", "judging ", /in the gate; .*\/gate keeps.*start the run again/],
  [
    "what the gate says at its end",
    "code.unknown",
    "1 passed",
    /before the load; .*\/gate is kept.*load .*--duration 30s/,
  ],
  [
    "the load",
    "code.unknown",
    "requests/s",
    /in the load; .*\/gate and .*\/load are kept.*load .*--duration 30s/,
  ],
] as const)("run interrupted in %s says what is kept and how to go on", async (_, rule, phase, kept) => {
  const out = fresh();
  const says = new RegExp(`Interrupted ${kept.source}`);
  const asked = ["run", "--only", rule, "--rate", "50", "--duration", "30s", "--out", out];
  const { exitCode, stderr } = await runHere(asked, {
    env: { TOUCHSTONE_K6: k6.path },
    interruptAt: phase,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: expect.stringMatching(says) as string });
  if (phase !== "requests/s") return;
  const record = JSON.parse(readFileSync(path.join(out, "load", "run.json"), "utf8")) as LoadRecord;
  expect(record).toMatchObject({ state: "sealed", outcome: "interrupted" });
  expect(record.achieved?.requests).toBeGreaterThan(0);
});
