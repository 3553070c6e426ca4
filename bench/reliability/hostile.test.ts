import { describe, expect, it } from "vitest";
import { tryClient } from "./try-client.ts";
import { tryFake } from "./try-fake.ts";
import { tryReceiver } from "./try-receiver.ts";

/** A few hundred of what `npm run bench -- reliability` tries ten thousand of. */

describe("hostile peers", () => {
  it("do not keep the client's exchanges from ending in time, nor the next one from succeeding", async () => {
    expect(await tryClient(200, 1)).toEqual({ inputs: 200, wrong: [] });
  });

  it("do not break the flow of the fake", async () => {
    expect(await tryFake(300, 1)).toEqual({ inputs: 300, wrong: [] });
  });

  it("do not keep the receiver from acknowledging and recording honest pushes", async () => {
    expect(await tryReceiver(300, 1)).toEqual({ inputs: 300, wrong: [] });
  });
});
