import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { isAnswering } from "../../conformance/testing/servers.ts";
import { startModule } from "../../conformance/testing/start-cli.ts";

/** A service on its own port, started by a process that is then left to the test. */
const started = async (command: string) => {
  const script = `
    import { createServer } from "node:net";
    import { runnerClock } from "./clock.ts";
    import { startTarget } from "./start-target.ts";
    const free = createServer().listen(0, "127.0.0.1", () => {
      const { port } = free.address();
      free.close(async () => {
        const baseUrl = "http://127.0.0.1:" + port;
        await startTarget({ command: process.argv[1], flag: "--start-a", baseUrl, withinMs: 600_000, clock: runnerClock,
          environment: { ...process.env, PORT: String(port) }, signal: new AbortController().signal });
        console.log(baseUrl);
        setInterval(() => undefined, 1_000);
      });
    });`;
  const { line, stop } = startModule(script, [command], { cwd: import.meta.dirname });
  return { baseUrl: await line(), stop };
};

const serve = `require("node:http").createServer((_, answer) => answer.end()).listen(process.env.PORT, "127.0.0.1")`;

it.concurrent.each([
  ["ends on SIGTERM", serve],
  ["ignores SIGTERM", `process.on("SIGTERM", () => undefined); ${serve}`],
])("a service that %s ends when its starter is killed", async (_, program) => {
  const { stop, baseUrl } = await started(`${process.execPath} -e '${program}' & wait`);
  expect(await isAnswering(baseUrl)).toBe(true);
  await stop("SIGKILL");
  // If it did not end, it would answer for ever.
  while (await isAnswering(baseUrl)) await delay(100);
});
