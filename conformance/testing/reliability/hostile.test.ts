import { describe, expect, it } from "vitest";
import { tryClient } from "./try-client.ts";
import { tryFake } from "./try-fake.ts";
import { tryReceiver } from "./try-receiver.ts";

/** A few hundred of what `npm run bench -- reliability` tries ten thousand of. */

describe("hostile peers", () => {
  it("answer the client with everything wrong: each exchange ends in time, as it should, and the next one is sound", async () => {
    expect(await tryClient(200, 1)).toEqual({ inputs: 200, wrong: [] });
  });

  it("send the fake everything wrong: the flow still works", async () => {
    expect(await tryFake(300, 1)).toEqual({ inputs: 300, wrong: [] });
  });

  it("send the receiver everything wrong: honest pushes are acknowledged and kept", async () => {
    expect(await tryReceiver(300, 1)).toEqual({ inputs: 300, wrong: [] });
  });
});
