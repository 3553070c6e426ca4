import { expect, it } from "vitest";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { openPushPorts } from "./push-ports.ts";

const stopping = stopAfterEach();

it("what the receiver got can still be read after an interruption, until the ports are closed", async () => {
  const fake = await stopping(startFake());
  const receiver = await stopping(startReceiver({ scheme: "http" }));
  const interruption = new AbortController();
  const options = { ...runOptions(), signal: interruption.signal };
  const ports = openPushPorts(await fake.resolved(), receiver, options);
  const start = { ...(await ports.receiver.plan({ rules: [] })), last: 0 };
  interruption.abort();
  expect(await ports.receiver.pushes(start)).not.toEqual([]);
  await ports.close();
  await expect(ports.receiver.pushes(start)).rejects.toThrow("gave no answer");
});
