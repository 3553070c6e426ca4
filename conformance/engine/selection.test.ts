import { describe, expect, it } from "vitest";
import { requirement, type RequirementId } from "../contract/catalogue.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { errorOf } from "../testing/errors.ts";
import { rules } from "../rules/index.ts";
import { selectRules, type Selection } from "./selection.ts";

const idsOf = (selection: Selection): readonly RequirementId[] =>
  selectRules(rules, selection).map((rule) => rule.requirement);

const problemsOf = async (select: () => unknown): Promise<readonly string[]> =>
  (await errorOf(select, ConfigurationError)).problems;

describe("a selection", () => {
  it("filters by id, group, section of the document and level, and by all of them combined", () => {
    expect(idsOf({})).toHaveLength(rules.length);
    expect(idsOf({ only: ["code.lifetime", "access.header"] }).toSorted()).toEqual([
      "access.header",
      "code.lifetime",
    ]);
    expect(idsOf({ sections: ["code"] })).toEqual(
      rules.map((rule) => rule.requirement).filter((id) => requirement(id).group === "code"),
    );
    for (const id of idsOf({ sections: ["4.3"] })) expect(requirement(id).sections).toContain("4.3");
    for (const id of idsOf({ levels: ["advisory"] })) expect(requirement(id).level).toBe("advisory");
    expect(
      idsOf({ only: ["code.lifetime", "access.header"], sections: ["code"], levels: ["required"] }),
    ).toEqual(["code.lifetime"]);
  });

  it("reports each unknown value with what is accepted", async () => {
    const problems = await problemsOf(() =>
      idsOf({ only: ["code.lifetim", "constructor"], sections: ["4.9"], levels: ["urgent"] }),
    );
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain("code.lifetime");
    expect(problems[2]).toContain("--section 4.9: no such section; accepted are authorize, code");
    expect(problems[3]).toContain("accepted are required, derived, advisory, unspecified");
  });

  it("is rejected if it is empty", async () => {
    for (const empty of [{ only: ["code.lifetime"], levels: ["advisory"] }, { only: [] }])
      expect(await problemsOf(() => idsOf(empty))).toHaveLength(1);
    expect(await problemsOf(() => selectRules([], {}))).toHaveLength(1);
  });
});
