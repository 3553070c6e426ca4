import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { scenarioRules, withUnchecked } from "./scenario-rules.ts";

it.each(["token", "notifications", "push"] as const)("docs/load.md names the rules of %s", (scenario) => {
  const page = readFileSync(new URL("../../docs/load.md", import.meta.url), "utf8");
  const row = page.split("\n").find((line) => line.startsWith(`| \`${scenario}\` |`)) ?? "";
  const named = [...(row.split("|")[3] ?? "").matchAll(/`([\w.-]+)`/g)].map(([, id = ""]) =>
    id.startsWith(".") ? `${scenario}${id}` : id,
  );
  expect(named.toSorted()).toEqual([...scenarioRules[scenario]].toSorted());
});

it("rules that nothing checked are in the list of a load, and named in a note", () => {
  const checked = scenarioRules.push
    .filter((id) => id !== "push.schedule" && id !== "push.cap")
    .map((id) => ({ id, checks: 3, breaches: 0 }));
  const rules = [{ id: "push.cap", checks: 0, breaches: 0, note: "why" }, ...checked];
  expect(withUnchecked("push", rules)).toEqual({
    rules: [...rules, { id: "push.schedule", checks: 0, breaches: 0 }],
    notes: ["not checked, though the scenario push can check it: push.cap, push.schedule"],
  });
  const all = scenarioRules.push.map((id) => ({ id, checks: 1, breaches: 0 }));
  expect(withUnchecked("push", all)).toEqual({ rules: all, notes: [] });
});
