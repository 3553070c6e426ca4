import { expect, it } from "vitest";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { openPushPorts } from "./push-ports.ts";

const stopping = stopAfterEach();

it("what the receiver got can still be read after an interruption, until the ports are closed", async () => {
  const fake = await stopping(startFake());
  const receiver = await stopping(startReceiver({ scheme: "http" }));
  const interruption = new AbortController();
  const options = { ...runOptions(), signal: interruption.signal, askedForMs: 60_000 };
  const ports = openPushPorts(await fake.resolved(), receiver, options);
  const start = { ...(await ports.receiver.plan({ rules: [] })), last: 0 };
  interruption.abort();
  expect(await ports.receiver.pushes(start)).not.toEqual([]);
  await ports.close();
  await expect(ports.receiver.pushes(start)).rejects.toThrow("gave no answer");
});

it("a receiver that is silent after an interruption is not waited for until its calls time out", async () => {
  const fake = await stopping(startFake());
  let calls = 0;
  const silent = await stopping(serveHttp(() => void (calls += 1)));
  const interruption = new AbortController();
  const options = { ...runOptions(), signal: interruption.signal, askedForMs: 50 };
  const ports = openPushPorts(await fake.resolved(), { controlUrl: silent.origin }, options);
  const asked = ports.receiver.state();
  interruption.abort();
  await expect(asked).rejects.toThrow("gave no answer: interrupted");
  expect(calls).toBe(1);
  await ports.close();
});
