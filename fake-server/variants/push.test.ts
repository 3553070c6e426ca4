import { expect, test } from "vitest";
import { startPushing } from "../testing/pushing.ts";

const R1 = [0, 30, 90, 210, 450];
const R2 = [0, 30, 60, 120, 240];
const R3 = [30, 90, 210, 450, 930];
const R4 = [30, 60, 120, 240, 480];
const R8 = [30, 90, 210, 450];

/** Seconds from the event of pushes that get no answer for ten seconds: where delays count from the failure, each is that much later. */
const secondsOfHanging: Readonly<Record<string, readonly number[]>> = {
  "push-reading-r1-from-start": R1,
  "push-reading-r1-from-failure": [0, 40, 110, 240, 490],
  "push-reading-r2-from-start": R2,
  "push-reading-r2-from-failure": [0, 40, 70, 130, 250],
  "push-reading-r3-from-start": R3,
  "push-reading-r3-from-failure": [30, 100, 230, 480, 970],
  "push-reading-r4": R4,
  "push-reading-r8-from-start": R8,
  "push-reading-r8-from-failure": [30, 100, 230, 480],
};

/** These are late by some seconds; they have a test of their own. */
const LATE = new Set(["push-jitter-late", "push-noticed-every-five-seconds", "push-first-after-two-seconds"]);

test("push-code-alone-acknowledges-at-once stops after 200 whose body never comes", async () => {
  await using service = await startPushing({
    behaviour: "push-code-alone-acknowledges-at-once",
    patienceMs: 20,
  });
  service.receiver.react = () => (answer) => answer.writeHead(200, { "content-length": 10 }).flushHeaders();
  await service.event({});
  expect(await service.secondsOfPushes(1_200, 10)).toEqual([0]);
});

test.each(Object.entries(secondsOfHanging))(
  "%s counts delays from its anchor",
  async (behaviour, expected) => {
    await using service = await startPushing({ behaviour, patienceMs: 20 });
    service.receiver.react = () => () => undefined;
    await service.event({});
    expect(await service.secondsOfPushes(1_200, 10)).toEqual(expected);
  },
);

test.each([...LATE])("%s is never early, and sometimes late by more than a second", async (behaviour) => {
  await using service = await startPushing({ behaviour });
  service.receiver.react = () => 500;
  await service.advance(1_500);
  await service.event({});
  const came = await service.secondsOfPushes(600);
  const lateness = came.map((at, index) =>
    index === 0 ? at : at - (came[index - 1] ?? 0) - 30 * 2 ** (index - 1),
  );
  expect(came).toHaveLength(5);
  // With steps of a second a push is seen up to a second late, which shortens the gap after it.
  expect(Math.min(...lateness)).toBeGreaterThanOrEqual(-1);
  expect(Math.max(...lateness)).toBeGreaterThan(1);
});

test.each([
  ["sound", 200, "{}", 1],
  ["sound", 201, "ok", 5],
  ["push-any-2xx-acknowledges", 204, "", 1],
  ["push-any-2xx-acknowledges", 302, "", 5],
  ["push-code-and-body-acknowledge", 200, "ok", 5],
  ["push-code-and-body-acknowledge", 200, "acknowledgement", 1],
  ["push-code-and-body-acknowledge", 201, "acknowledgement", 5],
])("%s, answered with %i and %j, sends %i pushes", async (behaviour, status, body, count) => {
  await using service = await startPushing({ behaviour });
  service.receiver.react = () => (answer, push) => {
    answer
      .writeHead(status)
      .end(body === "acknowledgement" ? JSON.stringify({ id: push.id, received: true }) : body);
  };
  await service.event({});
  await service.advance(3_600_000);
  expect(service.receiver.pushes).toHaveLength(count);
});
