import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { folderOfFile } from "../conformance/testing/folders.ts";
import { root } from "../conformance/testing/measure.ts";
import { processesOf } from "../conformance/testing/reliability/processes.ts";
import { startModule } from "../conformance/testing/start-cli.ts";

const folder = folderOfFile();

test("the fake removes its secrets if it learns in two ways at once that who started it is gone", async () => {
  const starter = startModule(
    `import { startFakeProcess } from ${JSON.stringify(pathToFileURL(path.join(root, "fake-server/process.ts")).href)};
    const { profileFile } = await startFakeProcess([process.execPath, ${JSON.stringify(path.join(root, "cli.ts"))}], "sound");
    console.log(profileFile);`,
    [],
    // As a script of npm it watches its parent, besides its standard input.
    { env: { TMPDIR: folder, npm_lifecycle_event: "test" } },
  );
  const profileFile = await starter.line();
  const [fake] = processesOf(folder).filter(({ argv }) => argv.includes(profileFile));
  if (fake === undefined) throw new Error("the fake is not alive");
  process.kill(fake.pid, "SIGSTOP");
  await starter.stop("SIGKILL");
  // When it goes on, the time to look at its parent has come, and its standard input has ended.
  await delay(1_100);
  process.kill(fake.pid, "SIGCONT");
  while (processesOf(folder).length > 0) await delay(20);
  expect(existsSync(profileFile)).toBe(false);
  expect(existsSync(`${profileFile}.secret-1`)).toBe(false);
});
