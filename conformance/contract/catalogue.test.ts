import { describe, expect, it } from "vitest";
import { rules } from "../rules/index.ts";
import { catalogue, isRequirementId, requirement, requirementIds } from "./catalogue.ts";
import { groups, levels } from "./requirement.ts";

describe.each(requirementIds)("%s", (id) => {
  const entry = requirement(id);

  it("says what must hold and how that is judged, each in sentences", () => {
    expect(entry.sentence).toMatch(/^\p{L}.*\.$/su);
    expect(entry.judged).toMatch(/^\p{Lu}.*\.$/su);
    expect(entry.sections.length).toBeGreaterThan(0);
    for (const section of entry.sections) expect(section).toMatch(/^[1-9](\.\d)?$/);
  });

  it("belongs to a group and a level, and says what that level asks for", () => {
    expect(groups).toContain(entry.group);
    expect(levels).toContain(entry.level);
    if (entry.level === "derived") expect(entry.derivation).toMatch(/\w/);
    if (entry.level === "advisory") expect(entry.clause).toMatch(/RFC|OWASP/);
    if (entry.level === "untestable") expect(entry.reason).toMatch(/\w/);
  });

  it("has one rule, unless it cannot be tested", () => {
    const judging = rules.filter(({ requirement: judged }) => judged === id);
    expect(judging).toHaveLength(entry.level === "untestable" ? 0 : 1);
  });
});

it("has readings only where there are several", () => {
  for (const id of requirementIds) {
    const { readings } = requirement(id);
    if (readings !== undefined) expect(Object.keys(readings).length, id).toBeGreaterThan(1);
  }
});

it("knows its ids, and no property of objects", () => {
  expect(isRequirementId("code.single-use")).toBe(true);
  for (const id of ["", "code", "constructor", "__proto__", "toString"]) expect(isRequirementId(id)).toBe(false);
});
