import { describe, expect, it } from "vitest";
import { createSecrets } from "../contract/secrets.ts";
import { durableSteps, type Checkpoint, type KeptStep } from "./durable-steps.ts";
import type { World } from "./world.ts";

const client = { id: "client-1", secret: "MARKED-secret", redirectUri: "https://client.example/" };

/** A checkpoint in memory: each world gets what the previous one kept. */
const memory = () => {
  const kept = new Map<string, readonly KeptStep[]>();
  const world = (over: Partial<Pick<World, "client">> = {}) => {
    const left = new Map(kept);
    const checkpoint: Checkpoint = {
      take: (id) => {
        const steps = left.get(id);
        left.delete(id);
        return steps;
      },
      keep: (id, steps) => void kept.set(id, steps),
      drop: (id) => void kept.delete(id),
    };
    return { checkpoint, client: over.client ?? client, secondClient: undefined, secrets: createSecrets() };
  };
  return { kept, world };
};

const at = { earliestMs: 1, latestMs: 2 };
const code = "A".repeat(20);
const issue = () => Promise.resolve({ value: { code, client }, at });
const unexpected = (): Promise<never> => Promise.reject(new Error("it was done again"));

describe("the steps of a case", () => {
  it("are not repeated by the run that continues the case", async () => {
    const { kept, world } = memory();
    const first = durableSteps(world(), "case");
    expect(first.isContinued()).toBe(false);
    await first.once("issue", issue);
    first.note("use 0");
    expect(JSON.stringify([...kept])).not.toContain("MARKED");

    const later = world();
    const second = durableSteps(later, "case");
    expect(second.isContinued()).toBe(true);
    expect([second.has("use 0"), second.has("use 1")]).toEqual([true, false]);
    const { value } = await second.once("issue", unexpected);
    expect(value).toEqual({ code, client });
    expect(later.secrets.mask(`it got ${code}`)).not.toContain(code);
    expect(durableSteps(later, "another").isContinued()).toBe(false);
  });

  it("are not kept while a step runs, nor once the decisive one has begun", async () => {
    const { kept, world } = memory();
    const steps = durableSteps(world(), "case");
    await steps.once("code", issue);
    expect(kept.size).toBe(1);
    let during = -1;
    await steps.once("tokens", () => {
      during = kept.size;
      return issue();
    });
    expect([during, kept.size]).toEqual([0, 1]);
    steps.spend();
    expect(kept.size).toBe(0);
  });

  it("start over if the case is taken up a second time or restarted", async () => {
    const { kept, world } = memory();
    await durableSteps(world(), "case").once("issue", issue);
    const later = world();
    const steps = durableSteps(later, "case");
    expect([steps.restart(), steps.restart()]).toEqual([true, false]);
    expect([steps.isContinued(), steps.has("issue"), kept.size]).toEqual([false, false, 0]);
    expect(durableSteps(later, "case").isContinued()).toBe(false);
  });

  it("are not kept if JSON cannot represent them, and not continued for another client", async () => {
    const { kept, world } = memory();
    await durableSteps(world(), "endless").once("issue", () =>
      Promise.resolve({ value: { livesMs: Number.NaN }, at }),
    );
    expect(kept.size).toBe(0);
    await durableSteps(world(), "case").once("issue", issue);
    expect(durableSteps(world({ client: { ...client, id: "another" } }), "case").isContinued()).toBe(false);
  });

  it("are not kept if there is no checkpoint", async () => {
    const steps = durableSteps({ ...memory().world(), checkpoint: undefined }, "case");
    await steps.once("issue", issue);
    steps.note("use");
    steps.spend();
    expect([steps.has("issue"), steps.isContinued()]).toEqual([false, false]);
  });
});
