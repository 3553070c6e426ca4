import { describe, expect, it } from "vitest";
import { ControlFailed } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { refused, untested, type Refusal, type Wrong } from "./refusals.ts";

const world = { target: { hasCookies: () => false }, evidence: { exchanges: () => [1] } } as unknown as World;

/** A service that grants these words; "right" is what is right. */
const guarded = (granted: readonly string[], log: string[] = []): Refusal<string, string> => ({
  expected: "only the right word is granted",
  right: () => Promise.resolve("right"),
  gain: async (_world, _right, sent) => {
    log.push(sent);
    if (sent === "garbled") return untested;
    return granted.includes(sent) ? "it was granted" : undefined;
  },
  control: async (_world, right, names) => {
    log.push(`control after ${names}`);
    if (!granted.includes(right)) throw new ControlFailed("nothing is granted");
  },
});

const row = (name: string): Wrong<string, string> => ({
  name,
  of: (right) => (name === right ? undefined : name),
});

const judge = (refusal: Refusal<string, string>, ...names: readonly string[]) =>
  refused(refusal)(names.map(row), world);

describe("a row of refusals", () => {
  it("passes if nothing is gained and what is right is granted afterwards", async () => {
    const log: string[] = [];
    expect(await judge(guarded(["right"], log), "wrong", "odd")).toEqual({ kind: "passed" });
    expect(log).toEqual(["wrong", "odd", "control after wrong; odd"]);
  });

  it("fails with the one that gained something, and sends no more", async () => {
    const log: string[] = [];
    expect(await judge(guarded(["right", "odd"], log), "wrong", "odd", "other")).toEqual({
      kind: "failed",
      expected: "only the right word is granted",
      actual: "odd: it was granted",
      shownBy: [],
      input: "odd",
    });
    expect(log).toEqual(["wrong", "odd"]);
  });

  it("proves nothing if nothing right is granted either", async () => {
    await expect(judge(guarded([]), "wrong")).rejects.toThrow("nothing is granted");
  });

  it("counts neither what would be right nor what the service did not see", async () => {
    const log: string[] = [];
    expect(await judge(guarded(["right"], log), "right", "garbled")).toMatchObject({ kind: "discarded" });
    expect(log).toEqual(["garbled"]);
  });

  it("names all rows before a control that they broke", async () => {
    const refusal = {
      ...guarded(["right"]),
      control: async () => ({ kind: "failed" as const, expected: "", actual: "" }),
    };
    expect(await judge(refusal, "wrong", "odd")).toMatchObject({
      kind: "failed",
      input: "wrong; odd, one after another",
    });
  });
});
