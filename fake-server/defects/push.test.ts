import { beforeAll, expect, test } from "vitest";
import { pushTrace } from "../testing/push-trace.ts";
import { startPushing } from "../testing/pushing.ts";
import { defects } from "./index.ts";
import { pushRequestDefects } from "./push-requests.ts";
import { pushSlowDefects } from "./push-slow.ts";

/** What these break shows only with certificates. */
const UNSEEN_OVER_HTTP = new Set(["push-certificate-unchecked"]);
/** What these break takes a receiver that refuses, hangs or reads the list; detection shows that rules see it. */
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

test("there are enough of them, and the sound sender is the same each time", async () => {
  expect(pushDefects.length).toBeGreaterThanOrEqual(45);
  expect(await pushTrace("sound")).toBe(sound);
});

test.each(pushDefects)("%s is seen by a receiver or in the list", async (behaviour) => {
  expect(await pushTrace(behaviour)).not.toBe(sound);
});

test.each([
  ["push-reading-r5-from-start", [0, 30, 90, 210, 450, 930]],
  ["push-reading-r5-from-failure", [0, 30, 90, 210, 450, 930]],
  ["push-reading-r6-from-start", [0, 30, 60, 120, 240, 480]],
  ["push-reading-r6-from-failure", [0, 30, 60, 120, 240, 480]],
  ["push-reading-r7-from-start", [0, 30, 90, 210, 450, 690]],
  ["push-reading-r7-from-failure", [0, 30, 90, 210, 450, 690]],
])("%s has six pushes, at %j seconds", async (behaviour, seconds) => {
  await using service = await startPushing({ behaviour });
  service.receiver.react = () => 500;
  await service.event({});
  expect(await service.secondsOfPushes(2_000, 5)).toEqual(seconds);
});
