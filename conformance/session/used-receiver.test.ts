import { expect, it } from "vitest";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { preflight } from "./preflight.ts";
import { openSession } from "./session.ts";

const stopping = stopAfterEach();

it("a preflight changes nothing at a receiver that another run uses, until that has ended", async () => {
  const receiver = await stopping(startReceiver({ scheme: "http" }));
  const fake = await stopping(startFake());
  const resolved = await fake.resolved();
  const open = () => openSession(resolved, { ...runOptions(), receiver });
  const other = open();
  await other.receiver?.plan({ rules: [], otherwise: { kind: "answer", status: 503 } });
  const examine = async () => {
    const session = open();
    try {
      return (await preflight(session, { notifications: false, pushes: true })).checks;
    } finally {
      await session.close();
    }
  };
  expect(await examine()).toContainEqual({
    check: "receiver",
    ok: false,
    fatal: "configuration",
    message: expect.stringContaining("another run uses it") as string,
    remedy: expect.stringContaining("one serves one run at a time") as string,
  });
  const plan = await fetch(`${receiver.controlUrl}/plan`);
  expect(await plan.json()).toMatchObject({ otherwise: { status: 503 } });
  await other.close();
  const problems = (await examine()).filter(({ ok }) => ok === false);
  expect(problems).toEqual([]);
});
