import { describe, expect, it } from "vitest";
import { rules } from "../rules/index.ts";
import { isRequirementId, requirement, requirementIds } from "./catalogue.ts";
import { groups, levels, type Level } from "./requirement.ts";

describe.each(requirementIds)("%s", (id) => {
  const entry = requirement(id);

  it("states in whole sentences what must hold and how it is judged", () => {
    expect(entry.sentence).toMatch(/^\p{L}.*\.$/su);
    expect(entry.judged).toMatch(/^\p{Lu}.*\.$/su);
    expect(entry.sections.length).toBeGreaterThan(0);
    for (const section of entry.sections) expect(section).toMatch(/^[1-9](\.\d)?$/);
  });

  it("has a known group and level, and the justification that its level requires", () => {
    expect(groups).toContain(entry.group);
    expect(levels).toContain(entry.level);
    const grounds: Partial<Record<Level, string>> = {
      ...(entry.level === "derived" ? { derived: entry.derivation } : {}),
      ...(entry.level === "advisory" ? { advisory: entry.clause } : {}),
      ...(entry.level === "untestable" ? { untestable: entry.reason } : {}),
    };
    const expected: Partial<Record<Level, RegExp>> = {
      derived: /\w/,
      advisory: /\w/,
      untestable: /\w/,
    };
    expect(grounds[entry.level] ?? "").toMatch(expected[entry.level] ?? /^$/);
  });

  it("has exactly one rule, or none if it is untestable", () => {
    const judging = rules.filter(({ requirement: judged }) => judged === id);
    expect(judging).toHaveLength(entry.level === "untestable" ? 0 : 1);
  });
});

it("a requirement has either no readings or at least two", () => {
  const alone = requirementIds.filter((id) => Object.keys(requirement(id).readings ?? {}).length === 1);
  expect(alone).toEqual([]);
});

it("isRequirementId accepts ids of the catalogue and rejects names of object properties", () => {
  expect(isRequirementId("code.single-use")).toBe(true);
  for (const id of ["", "code", "constructor", "__proto__", "toString"])
    expect(isRequirementId(id)).toBe(false);
});
