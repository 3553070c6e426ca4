import { chmod, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { serve, type ServeOptions } from "./index.ts";
import type { Addresses } from "./serve.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { folderOfFile } from "../conformance/testing/folders.ts";
import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { root } from "../conformance/testing/measure.ts";
import { processesOf } from "../conformance/testing/reliability/processes.ts";
import { startModule } from "../conformance/testing/start-cli.ts";

const folder = folderOfFile();
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(path.join(folder, name), text, { mode: 0o600 });
  return path.join(folder, name);
};

/** Serves until `use` has settled, and returns its result. */
const serving = async <T>(options: ServeOptions, use: (addresses: Addresses) => Promise<T>): Promise<T> => {
  const abort = new AbortController();
  let used: Promise<T> | undefined;
  await serve(options, {
    signal: abort.signal,
    listening: (addresses) => {
      used = use(addresses).finally(() => abort.abort());
    },
  });
  if (used === undefined) throw new Error("it never listened");
  return used;
};

test("serve reports its addresses without secrets, and frees its ports when aborted", async () => {
  const clientsFile = await file(
    "clients.json",
    JSON.stringify([{ id: "one", secret: "hush", redirectUri: "https://one.example/" }]),
  );
  const { status, said, baseUrl } = await serving({ clientsFile }, async (addresses) => {
    const query = "clientId=one&state=a&redirectUri=https%3A%2F%2Fone.example%2F";
    const response = await fetch(`${addresses.baseUrl}/open-api/oauth/authorize?${query}`);
    return { status: response.status, said: JSON.stringify(addresses), baseUrl: addresses.baseUrl };
  });
  expect(status).toBe(200);
  expect(said).not.toContain("hush");
  await expect(fetch(baseUrl)).rejects.toThrow("fetch failed");
});

test("a profile is written with its secrets in files that only the owner can read", async () => {
  const profileFile = path.join(folder, "profile.json");
  await serving({ profileFile }, async () => undefined);
  expect((await stat(`${profileFile}.secret-1`)).mode & 0o777).toBe(0o600);
});

test("serve ends at once if its signal is already aborted", async () => {
  const said: string[] = [];
  await serve({}, { signal: AbortSignal.abort(), listening: ({ baseUrl }) => said.push(baseUrl) });
  await expect(fetch(said[0] ?? "")).rejects.toThrow("fetch failed");
});

test("serve refuses an unusable clients file and an unknown behaviour", async () => {
  const io = { signal: AbortSignal.abort(), listening: () => undefined };
  await expect(serve({ clientsFile: path.join(folder, "none.json") }, io)).rejects.toThrow(
    "there is no such file",
  );
  await expect(serve({ clientsFile: await file("text.json", "text") }, io)).rejects.toThrow("is not JSON");
  await expect(serve({ clientsFile: await file("empty.json", "[]") }, io)).rejects.toThrow(
    ConfigurationError,
  );
  const wide = await file("wide.json", "[]");
  await chmod(wide, 0o644);
  await expect(serve({ clientsFile: wide }, io)).rejects.toThrow(
    /has mode 644, so others can read the clients' secrets.*chmod 600 .*wide\.json/,
  );
  await expect(serve({ behaviour: "sounds" }, io)).rejects.toThrow(ConfigurationError);
});

test("a behaviour that is one of the clock is served with it, and with no other", async () => {
  const modeOf = (options: ServeOptions) => serving(options, async ({ clockMode }) => clockMode);
  expect(await modeOf({})).toBe("flowing");
  expect(await modeOf({ clockMode: "frozen" })).toBe("frozen");
  expect(await modeOf({ behaviour: "clock-jumping" })).toBe("jumping");
  await expect(serving({ behaviour: "clock-jumping", clockMode: "flowing" }, async () => 0)).rejects.toThrow(
    'the behaviour "clock-jumping" needs a jumping clock; omit --clock',
  );
});

test("the fake ends and removes its secrets if its starter is killed", async () => {
  const starter = startModule(
    `import { startFakeProcess } from ${JSON.stringify(pathToFileURL(path.join(root, "fake-server/serve.ts")).href)};
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
