import { describe, expect, it } from "vitest";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { invented } from "./intrusions.ts";

const clientOf = (id: string, secret = "secret"): Client => ({
  id,
  secret,
  redirectUri: "https://client.example",
});

/** The parts of a world that intrusions use. */
const worldOf = (ids: readonly [string, string], drawn: readonly string[]): World => {
  const left = [...drawn];
  return {
    client: clientOf(ids[0]),
    secondClient: clientOf(ids[1]),
    target: { unique: () => left.shift() ?? "nothing is left" },
  } as unknown as World;
};

describe("an invented value", () => {
  it("has the length asked for, and is the id of no client of the run", () => {
    expect(invented(1, worldOf(["1", "2"], ["f0f0f0f0f01", "f0f0f0f0f02", "f0f0f0f0f03"]))).toBe("3");
    expect(invented(43, worldOf(["1", "2"], ["f0f0f0f0f01"]))).toHaveLength(43);
  });

  it("differs from one to the next, however short it is", () => {
    const world = worldOf(["a", "b"], ["f0f0f0f0f01", "f0f0f0f0f02"]);
    expect(invented(1, world)).not.toBe(invented(1, world));
  });
});
