import { expect, it } from "vitest";
import { startFake, type ProfileChange } from "../testing/fake.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { judgedTargetOf, refuseOtherTarget } from "./judged-target.ts";

const stopping = stopAfterEach();

const changed = async (change: ProfileChange = {}) => {
  const fake = await stopping(startFake());
  const of = async (one: ProfileChange) => {
    const resolved = await fake.resolved(one);
    return judgedTargetOf({ ...resolved, sources: ["service.json"] }, undefined);
  };
  return { before: await of({}), after: await of(change) };
};

it.each<readonly [ProfileChange, RegExp]>([
  [{ name: "another" }, /name was .* in that run, and is another now/],
  [{ baseUrl: "http://127.0.0.1:1" }, /baseUrl was http.* and is http:\/\/127\.0\.0\.1:1\/? now/],
  [{ limits: { stateMaxBytes: 64 } }, /limits\.stateMaxBytes was 128 in that run, and is 64 now/],
  [{ tolerances: { latenessMs: 7 } }, /tolerances\.latenessMs was not set in that run, and is 7 now/],
])("an interrupted run is not continued with %j", async (change, message) => {
  const { before, after } = await changed(change);
  expect(() => refuseOtherTarget("run", before, after)).toThrow(message);
  expect(() => refuseOtherTarget("run", before, before)).not.toThrow();
});

it("an embedded fake may have another address", async () => {
  const [one, other] = await Promise.all([stopping(startFake()), stopping(startFake())]);
  const of = async ({ resolved }: typeof one) => judgedTargetOf(await resolved(), "sound");
  const [before, after] = [await of(one), await of(other)];
  expect(before.target.baseUrl).not.toBe(after.target.baseUrl);
  expect(() => refuseOtherTarget("run", before, after)).not.toThrow();
});

it("settings that verdicts depend on are recorded", async () => {
  const { after } = await changed({
    tolerances: { latenessMs: 7 },
    pins: { readings: { "push.schedule": "R1" } },
  });
  expect(after.settings).toEqual({ "tolerances.latenessMs": "7", "pins.readings.push.schedule": '"R1"' });
});
