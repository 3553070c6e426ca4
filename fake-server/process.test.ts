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

test("the fake ends and removes its secrets if its starter is killed", async () => {
  const starter = startModule(
    `import { startFakeProcess } from ${JSON.stringify(pathToFileURL(path.join(root, "fake-server/process.ts")).href)};
    const { profileFile } = await startFakeProcess([process.execPath, ${JSON.stringify(path.join(root, "cli.ts"))}], "sound");
    console.log(profileFile);`,
    [],
    { env: { TMPDIR: folder } },
  );
  const profileFile = await starter.line();
  expect(existsSync(profileFile)).toBe(true);
  await starter.stop("SIGKILL");
  while (processesOf(folder).length > 0) await delay(20);
  expect(existsSync(profileFile)).toBe(false);
  expect(existsSync(`${profileFile}.secret-1`)).toBe(false);
});
