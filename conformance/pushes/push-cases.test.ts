import { describe, expect, test } from "vitest";
import type { PushAction } from "../contract/push.ts";
import { batchesOf } from "./push-cases.ts";

const options = { acknowledgedStatus: 200, maxPushes: 5, elsewhere: () => "https://example.test/", seed: 1 };
const plans = batchesOf(options).flatMap(({ plans: all }) => all);

type Ending = "whole" | "cut behind its head" | "cut in its body" | "never ending";

const endingOf = (action: PushAction | undefined): Ending | undefined => {
  if (action?.kind === "answer") return "whole";
  if (action?.kind === "hang" && action.status !== undefined) return "never ending";
  if (action?.kind !== "close" || action.status === undefined) return undefined;
  return action.when === "head" ? "cut behind its head" : "cut in its body";
};

const statusOf = (action: PushAction | undefined): number | undefined =>
  action !== undefined && "status" in action ? action.status : undefined;

const kinds: Readonly<Record<string, (status: number) => boolean>> = {
  expected: (status) => status === 200,
  "other 2xx": (status) => status > 200 && status < 300,
  "3xx": (status) => status >= 300 && status < 400,
  "4xx": (status) => status >= 400 && status < 500,
  "5xx": (status) => status >= 500,
};

describe("the push cases", () => {
  const cells = (["whole", "cut behind its head", "cut in its body", "never ending"] as const).flatMap(
    (ending) => Object.keys(kinds).map((kind) => ({ ending, kind })),
  );

  test.each(cells)("include an answer $ending with status $kind", ({ ending, kind }) => {
    const expected = plans
      .filter(({ actions: [first] }) => endingOf(first) === ending && kinds[kind]?.(statusOf(first) ?? 0))
      .map(({ expect: { kind: of } }) => of);
    // A failing status leads to another push however its answer ends. Left open: what another 2xx means, and whether
    // the end of an answer with the expected code counts.
    const isFailing = kind !== "expected" && kind !== "other 2xx";
    const isOpen = kind === "other 2xx" || (kind === "expected" && ending !== "whole");
    const wanted = isOpen ? "open" : "pushes";
    expect([...new Set(isFailing ? expected : expected.filter((of) => of === wanted))]).toEqual([wanted]);
  });

  test("include two of one account that fail at the same moment, also if only a few kinds of failure are tried", () => {
    for (const fewKinds of [undefined, "of lasting", "of all"] as const) {
      const pairs = batchesOf({ ...options, fewKinds }).map((batch) =>
        batch.plans.filter(({ family, purpose }) => family === "failing twins" && purpose === "never"),
      );
      expect(pairs.map(({ length }) => length).filter((length) => length > 0)).toEqual([2]);
    }
  });

  test("that fail are of few kinds if only those last, and fewer still if no others are tried at all", () => {
    const failing = (fewKinds: Parameters<typeof batchesOf>[0]["fewKinds"]) => {
      const all = batchesOf({ ...options, fewKinds }).flatMap((batch) => batch.plans);
      const lasting = all.filter(({ purpose }) => purpose === "never");
      const once = all.filter(({ purpose, actions }) => purpose === "late" && actions.length === 2);
      return { lasting: lasting.length, once: once.length };
    };
    const [all, ofLasting, ofAll] = [failing(undefined), failing("of lasting"), failing("of all")];
    expect(ofLasting.lasting).toBeLessThan(all.lasting / 2);
    expect(ofLasting.once).toBe(all.once);
    expect(ofAll.lasting).toBe(ofLasting.lasting);
    expect(ofAll.once).toBeLessThan(all.once / 2);
    expect(ofAll.once).toBeGreaterThan(0);
  });
});
