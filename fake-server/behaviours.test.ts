import { describe, expect, it, test } from "vitest";
import { catalogue, isRequirementId, requirementIds } from "../conformance/contract/catalogue.ts";
import {
  behaviours,
  bundlesOf,
  defects,
  findBehaviour,
  joint,
  loadDefects,
  loadVariants,
  variants,
} from "./index.ts";
import { runHere } from "../conformance/testing/run-here.ts";
import type { ListedBehaviour } from "../reports/document/commands.ts";
import type { Context } from "./context.ts";
import type { Variant } from "./registry.ts";
import { sound } from "./sound.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";

const registries = [defects, variants, loadDefects, loadVariants];
const entries = Object.entries({ ...defects, ...variants, ...loadDefects, ...loadVariants });

test("names are unique across defects and variants, in lower case with dashes", () => {
  expect(entries).toHaveLength(registries.flatMap((registry) => Object.keys(registry)).length);
  expect(Object.keys(behaviours)).toHaveLength(entries.length + 1);
  for (const [name] of entries) expect(name).toMatch(/^[a-z\d]+(?:-[a-z\d]+)*$/);
});

test("names, broken requirements and replaced decisions match the stored list", async () => {
  const kinds = {
    defect: defects,
    variant: variants,
    "load defect": loadDefects,
    "load variant": loadVariants,
  };
  const lines = Object.entries(kinds).flatMap(([kind, registry]) =>
    Object.entries<Variant & { readonly breaks?: readonly string[] }>(registry).map(
      ([name, { breaks = [], replaces }]) =>
        [`${kind} ${name}:`, ...breaks, `(${Object.keys(replaces(sound)).toSorted().join(" ")})`].join(" "),
    ),
  );
  await expect(`${lines.toSorted().join("\n")}\n`).toMatchFileSnapshot("testing/behaviours.txt");
});

test.each(entries)("%s replaces existing decisions and has a summary of its own", (name, entry) => {
  const replaced = Object.entries(entry.replaces(sound));
  for (const [decision, replacement] of replaced) {
    expect(sound).toHaveProperty(decision);
    expect(replacement).not.toBe(sound[decision as keyof typeof sound]);
  }
  expect(replaced.length > 0 || "clockMode" in entry || "startTimeMs" in entry).toBe(true);
  expect(entry.summary).toMatch(/^\S.*\.$/);
  expect(entries.filter(([, { summary }]) => summary === entry.summary).map(([other]) => other)).toEqual([
    name,
  ]);
});

test("every defect breaks existing requirements, each named once", () => {
  for (const [name, { breaks }] of Object.entries(defects)) {
    expect({ name, known: breaks.length > 0 && breaks.every(isRequirementId) }).toEqual({
      name,
      known: true,
    });
    expect(new Set(breaks).size).toBe(breaks.length);
  }
});

test("every required and every derived requirement is broken by a defect", () => {
  const broken = new Set(Object.values(defects).flatMap(({ breaks }) => breaks));
  const bound = requirementIds.filter((id) => ["required", "derived"].includes(catalogue[id].level));
  expect(bound.filter((id) => !broken.has(id))).toEqual([]);
});

test("each service gets its own instance of a behaviour, so that no state is shared", () => {
  const behaviour = findBehaviour("code-reusable-twice");
  expect(behaviour.make()).not.toBe(behaviour.make());
});

test("an unknown name is rejected with a similar one suggested", () => {
  expect(() => findBehaviour("code-live-an-hour")).toThrow(ConfigurationError);
  expect(() => findBehaviour("code-live-an-hour")).toThrow("code-lives-an-hour");
  expect(() => findBehaviour("constructor")).toThrow(ConfigurationError);
});

test("the list of behaviours tells defects and variants apart, also those that only load shows", async () => {
  const { stdout } = await runHere(["serve", "--list", "--json"]);
  const listed = JSON.parse(stdout) as ListedBehaviour[];
  const namesOf = (kind: string) => listed.filter((one) => one.kind === kind).map(({ name }) => name);
  expect(namesOf("sound")).toEqual(["sound"]);
  expect(namesOf("defect")).toEqual(Object.keys({ ...defects, ...loadDefects }));
  expect(namesOf("variant")).toEqual(Object.keys({ ...variants, ...loadVariants }));
});

describe("bundles of variants", () => {
  const bundles = bundlesOf(variants);

  it("contain each variant once and are as few as possible", () => {
    expect(bundles.flat().toSorted()).toEqual(Object.keys(variants).toSorted());
    const kinds = Object.values(variants).filter(({ changes, replaces }) =>
      changes === undefined
        ? "renderRefusal" in replaces(sound)
        : changes.some((part) => part === "renderRefusal.text"),
    );
    expect(bundles).toHaveLength(kinds.length);
  });

  it("combine only variants that change different decisions, and apply all of them", () => {
    for (const names of bundles) {
      const changed = names.flatMap((name): readonly string[] => {
        const { changes, replaces } = variants[name] ?? {};
        return changes ?? Object.keys(replaces?.(sound) ?? {});
      });
      expect({ names, twice: changed.filter((part, at) => changed.indexOf(part) !== at) }).toEqual({
        names,
        twice: [],
      });
    }
    const { renderRefusal } = findBehaviour(["refusals-as-pages", "refusals-not-found"].join(joint)).make();
    expect(renderRefusal({ kind: "code-unknown" }, {} as Context)).toMatchObject({
      status: 404,
      headers: { "content-type": "text/html; charset=utf-8" },
    });
  });
});
