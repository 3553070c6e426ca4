import { expect, it } from "vitest";
import { hostileRun } from "../../reports/testing/ci-runs.ts";
import { ciCommand, hostile, unsafeCharacters } from "../../reports/testing/fixture.ts";
import { UnreachableError } from "../contract/problem.ts";
import { complaintOf, endedWith, skippedBecause } from "./testing/suite-words.ts";

it("the suite under Vitest shows nothing of a service that acts on a terminal or a CI service", () => {
  const { rules } = hostileRun.record;
  const ended = endedWith(new UnreachableError(hostile, { cause: new Error(hostile) }));
  expect(ended.cause).toBeUndefined();
  const texts = [ended.message, ...rules.flatMap((rule) => complaintOf(rule) ?? skippedBecause(rule) ?? [])];
  expect(texts.filter((text) => text.includes(String.raw`\u202e`)).length).toBeGreaterThan(4);
  for (const text of [...texts, ended.stack ?? ""]) {
    expect(text).not.toMatch(unsafeCharacters);
    expect(text).not.toMatch(ciCommand);
  }
});
