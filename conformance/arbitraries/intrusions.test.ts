import { describe, expect, it } from "vitest";
import type { IssuedTokens } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { elsewhere, inItsPlace, invented } from "./intrusions.ts";

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

describe("credentials with characters that headers or base64 cannot hold", () => {
  const world = worldOf(["1", "2"], []);
  const tokens = {
    accessToken: "é-💥",
    refreshToken: "line\nfeed",
    code: "line\nfeed",
    client: clientOf("1", "sécret-💥"),
  } as Partial<IssuedTokens> as IssuedTokens;
  const headersOf = async (name: string) =>
    [...elsewhere, ...inItsPlace].find((one) => one.name === name)?.headers(tokens, world);

  it("are not sent where no header can hold them", async () => {
    expect(await headersOf("the refreshToken")).toBe(undefined);
    expect(await headersOf("the used code")).toBe(undefined);
  });

  it("are encoded as UTF-8", async () => {
    const encoded = Buffer.from("1:sécret-💥").toString("base64");
    expect(await headersOf("the clientId and the secret")).toContainEqual([
      "x-service-access-token",
      encoded,
    ]);
    for (const { headers } of elsewhere) expect(await headers(tokens, world)).toBeDefined();
  });
});
