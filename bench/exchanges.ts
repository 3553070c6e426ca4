import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { figure, mebibytes } from "../conformance/testing/measure.ts";
import { startCli } from "../conformance/testing/start-cli.ts";
import { runnerClock } from "../scenarios/runner/clock.ts";
import { findK6 } from "../scenarios/runner/k6/find.ts";
import type { Counters } from "../fake-server/context.ts";
import { defaultClients } from "../fake-server/index.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

/** More than achievable, so that fake and k6 limit the rate, not the request. */
const ASKED_PER_SECOND = 3_600;
const WARM_UP_MS = 4_000;
const MEASURED_MS = 10_000;
const CLOCK_TICKS = 100;

/** One iteration is one exchange with its authorization: two requests. */
const script = (baseUrl: string): string => {
  const [client] = defaultClients;
  const query = new URLSearchParams({
    clientId: client?.id ?? "",
    state: "bench",
    redirectUri: client?.redirectUri ?? "",
  });
  return `
    import http from "k6/http";
    export const options = { scenarios: { exchanges: {
      executor: "constant-arrival-rate", rate: ${ASKED_PER_SECOND}, timeUnit: "1s", preAllocatedVUs: 100, maxVUs: 200,
      duration: "${(WARM_UP_MS + MEASURED_MS) / 1_000 + 2}s", gracefulStop: "1s" } } };
    const json = { headers: { "content-type": "application/json" } };
    export default () => {
      const { code } = http.get(${JSON.stringify(`${baseUrl}/open-api/oauth/authorize?${query.toString()}`)}, json).json();
      const body = JSON.stringify({ clientId: ${JSON.stringify(client?.id)}, clientSecret: ${JSON.stringify(client?.secret)}, code });
      http.post("${baseUrl}/open-api/oauth/access-token", body, json);
    };`;
};

/** CPU seconds and memory in bytes of a process, from the kernel (Linux). */
const accountOf = async (pid: number) => {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  const [, resident] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return {
    seconds: (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS,
    bytes: Number(resident) * 1_024,
  };
};

/** Token exchanges per second that the fake serves while k6, which requests them, runs on the same cores. */
export const exchanges = async (): Promise<void> => {
  const k6 = await findK6({ environment: process.env, clock: runnerClock });
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const fake = startCli(["serve", "--json"]);
  try {
    const { baseUrl, controlUrl } = (await fake.document()) as { baseUrl: string; controlUrl: string };
    const file = path.join(folder, "exchanges.js");
    await writeFile(file, script(baseUrl));
    const load = spawn(
      k6.path,
      ["run", "--quiet", "--no-usage-report", "--no-thresholds", "--no-summary", "--address", "", file],
      { stdio: "ignore" },
    );
    const ended = once(load, "close");
    const look = async () => ({
      atMs: performance.now(),
      ...((await (await fetch(`${controlUrl}/counters`)).json()) as Counters),
      ...(await accountOf(fake.child.pid ?? 0)),
    });
    await pause(WARM_UP_MS);
    const before = await look();
    await pause(MEASURED_MS);
    const after = await look();
    await ended;
    const done = after.requests.exchange - before.requests.exchange;
    const all = done + after.requests.authorize - before.requests.authorize;
    figure(
      "token exchanges a second beside k6, each after its authorization",
      ((done * 1_000) / (after.atMs - before.atMs)).toFixed(0),
      "at least 3000",
    );
    figure(
      "processor time of the fake for a request, in milliseconds",
      (((after.seconds - before.seconds) * 1_000) / all).toFixed(3),
      "at most 0.25",
    );
    figure(
      `memory of the fake after ${after.requests.exchange} exchanges`,
      mebibytes(after.bytes),
      "about 1 KiB for each",
    );
  } finally {
    await fake.stop("SIGKILL");
  }
};
