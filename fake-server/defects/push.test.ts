import { beforeAll, expect, test } from "vitest";
import { pushTrace } from "../testing/push-trace.ts";
import { startPushing } from "../testing/pushing.ts";
import { defects } from "./index.ts";
import { pushRequestDefects } from "./push-requests.ts";
import { pushSlowDefects } from "./push-slow.ts";

/** Their breaches show only over TLS. */
const UNSEEN_OVER_HTTP = new Set(["push-certificate-unchecked"]);
/** Their breaches show only to a receiver that refuses, hangs or reads the list; `detect` shows that rules find them. */
const UNSEEN_IN_A_TRACE = new Set([...Object.keys(pushSlowDefects), ...Object.keys(pushRequestDefects)]);
const pushDefects = Object.keys(defects).filter(
  (name) =>
    defects[name]?.breaks.some((id) => id.startsWith("push.")) === true &&
    !UNSEEN_OVER_HTTP.has(name) &&
    !UNSEEN_IN_A_TRACE.has(name),
);

let sound: string;
beforeAll(async () => {
  sound = await pushTrace("sound");
});

test("there are at least 45 push defects, and the sound sender is deterministic", async () => {
  expect(pushDefects.length).toBeGreaterThanOrEqual(45);
  expect(await pushTrace("sound")).toBe(sound);
});

test.each(pushDefects)("%s differs from the sound service in its pushes or its list", async (behaviour) => {
  expect(await pushTrace(behaviour)).not.toBe(sound);
});

test.each([
  ["push-reading-r5-from-start", [0, 30, 90, 210, 450, 930]],
  ["push-reading-r5-from-failure", [0, 30, 90, 210, 450, 930]],
  ["push-reading-r6-from-start", [0, 30, 60, 120, 240, 480]],
  ["push-reading-r6-from-failure", [0, 30, 60, 120, 240, 480]],
  ["push-reading-r7-from-start", [0, 30, 90, 210, 450, 690]],
  ["push-reading-r7-from-failure", [0, 30, 90, 210, 450, 690]],
])("%s sends six pushes, at %j seconds", async (behaviour, seconds) => {
  await using service = await startPushing({ behaviour });
  service.receiver.react = () => 500;
  await service.event({});
  expect(await service.secondsOfPushes(2_000, 5)).toEqual(seconds);
});
