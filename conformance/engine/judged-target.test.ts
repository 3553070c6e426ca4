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

/** The first client with another id or address. */
const ofClient =
  (change: { readonly id?: string; readonly redirectUri?: string }): ProfileChange =>
  ({ clients }) => ({ clients: clients.map((one, index) => (index === 0 ? { ...one, ...change } : one)) });

it.each<readonly [RegExp, ProfileChange]>([
  [/name was .* in that run, and is another now/, { name: "another" }],
  [/baseUrl was http.* and is http:\/\/127\.0\.0\.1:1\/? now/, { baseUrl: "http://127.0.0.1:1" }],
  [/limits\.stateMaxBytes was 128 in that run, and is 64 now/, { limits: { stateMaxBytes: 64 } }],
  [/clients\[0\]\.id was \w+ in that run, and is another now/, ofClient({ id: "another" })],
  [
    /clients\[0\]\.redirectUri was https:.* in that run, and is https:\/\/other\.example\/ now/,
    ofClient({ redirectUri: "https://other.example/" }),
  ],
  [
    /clients\[1\]\.id was \w+ in that run, and is not set now/,
    ({ clients }) => ({ clients: clients.slice(0, 1) }),
  ],
  [
    /notApplicable\.code\.lifetime was not set in that run, and is set now/,
    { notApplicable: { "code.lifetime": "no clock" } },
  ],
  [/tolerances\.latenessMs was not set in that run, and is 7 now/, { tolerances: { latenessMs: 7 } }],
])("an interrupted run is not continued if %s", async (message, change) => {
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

it("a reason in other words is the same target", async () => {
  const { before, after } = await changed({ notApplicable: {} });
  expect(before).toEqual(after);
  const { after: one } = await changed({ notApplicable: { "code.lifetime": "no clock" } });
  const { after: other } = await changed({ notApplicable: { "code.lifetime": "its clock stands still" } });
  expect(one.notApplicable).toEqual(other.notApplicable);
});

it("clients are recorded without their secrets, and not among the settings by which runs are compared", async () => {
  const { before } = await changed();
  expect(before.clients?.map((one) => Object.keys(one))).toEqual([
    ["id", "redirectUri"],
    ["id", "redirectUri"],
  ]);
  expect(before.settings).toBeUndefined();
});

it("settings that verdicts depend on are recorded", async () => {
  const { after } = await changed({
    tolerances: { latenessMs: 7 },
    pins: { readings: { "push.schedule": "R1" } },
  });
  expect(after.settings).toEqual({ "tolerances.latenessMs": "7", "pins.readings.push.schedule": '"R1"' });
});
