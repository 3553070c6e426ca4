import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { documentOf, newClients, writeProfile } from "../foreign/judging.ts";
import { faketimeEnvironment } from "../foreign/services.ts";
import { runCli } from "../../conformance/testing/measure.ts";
import { freePort, serveHttp } from "../../conformance/testing/servers.ts";
import { startProgram } from "../../conformance/testing/start-cli.ts";
import { latenessOf } from "./lateness.ts";
import { startGroup, startPostgres, startRedis, untilListens } from "./processes.ts";
import type { Fault, Programs, Queue, Setting } from "./queues.ts";

export interface Case {
  readonly queue: Queue;
  readonly setting: Setting;
  readonly fault: Fault;
}

export interface Place {
  readonly folder: string;
  /** The initialised cluster of PostgreSQL, if the queue needs one. */
  readonly cluster: string | undefined;
  readonly programs: Programs;
}

/** How long the sender waits for an answer. */
const TIMEOUT_MS = 5_000;

const clients = newClients("https://client.example/callback");

/** Starts the queue with its store, its worker and the service in front of it. */
const start = async ({ queue, setting, fault }: Case, { folder, cluster, programs }: Place) => {
  await using stopping = new AsyncDisposableStack();
  const clockFile = path.join(folder, "clock");
  writeFileSync(clockFile, "+0");
  const moved: NodeJS.ProcessEnv = setting.faketime ? { ...faketimeEnvironment(clockFile), TZ: "UTC" } : {};
  const monotonicIsReal = { FAKETIME_DONT_FAKE_MONOTONIC: setting.faketime && "1" };
  const isAsNeeded = setting.faketime === "as-needed";
  const clock = { ...moved, ...(queue.monotonicIsReal === isAsNeeded && monotonicIsReal) };
  // Debian's redis hangs under libfaketime: its allocator asks for the time before the library is ready.
  const store =
    queue.store === "redis"
      ? await startRedis(folder)
      : await startPostgres(cluster ?? "", folder, { ...moved, ...monotonicIsReal });
  stopping.defer(store.kill);
  const jobsPort = await freePort();
  const env = {
    ...clock,
    ...store.env,
    DELAYS_MS: setting.delaysMs.join(),
    TIMEOUT_MS: `${TIMEOUT_MS}`,
    JOBS_PORT: `${jobsPort}`,
    POLL_MS: `${queue.pollMs}`,
    CONCURRENCY: fault === "one-worker" ? "1" : `${queue.workers}`,
    FAULT: fault,
  };
  const startPart = (role: "enqueue" | "work") =>
    startGroup(folder, role, { ...programs, command: [...programs.command, role], env });
  const enqueuer = startPart("enqueue");
  stopping.defer(enqueuer.kill);
  await untilListens(`${queue.name} (enqueue)`, jobsPort);
  let worker = startPart("work");
  stopping.defer(() => worker.kill());
  const jobsUrl = `http://127.0.0.1:${jobsPort}/`;
  await untilPushes(jobsUrl);
  const clientsFile = path.join(folder, "clients.json");
  writeFileSync(clientsFile, JSON.stringify(clients), { mode: 0o600 });
  const front = startProgram(
    process.execPath,
    [path.join(import.meta.dirname, "front.ts"), clientsFile, jobsUrl],
    {
      holdsInput: true,
      env: { ...moved, ...monotonicIsReal },
    },
  );
  stopping.defer(async () => void (await front.stop()));
  const { baseUrl } = JSON.parse(await front.line()) as { readonly baseUrl: string };
  const restart = async (): Promise<void> => {
    await worker.kill();
    worker = startPart("work");
  };
  const running = stopping.move();
  return { baseUrl, clockFile, restart, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

/** Waits until the worker has pushed a first job, which takes seconds in some languages. */
const untilPushes = async (jobsUrl: string): Promise<void> => {
  const pushed = Promise.withResolvers<void>();
  const server = await serveHttp((_, response) => void response.end(() => pushed.resolve()));
  const headers = { "x-callback": `${server.origin}/` };
  await fetch(jobsUrl, { method: "POST", headers, body: "{}" });
  const inTime = await Promise.race([pushed.promise.then(() => true), delay(90_000, false)]);
  await server.stop();
  if (!inTime) throw new Error("the worker made no push within 90 s");
  await delay(500);
};

/** Judges the queue by the push rules, as a user does. */
export const judgeCase = async (one: Case, place: Place) => {
  const { folder } = place;
  const { setting, queue, fault } = one;
  await using service = await start(one, place);
  const { baseUrl, clockFile } = service;
  const { profile, env } = writeProfile(folder, queue.name, clients, {
    stop: async () => undefined,
    profile: {
      baseUrl,
      hooks: {
        events: {
          trigger: {
            http: { url: `${baseUrl}/test/events`, body: { accountId: "{{accountId}}" } },
            result: "/id",
          },
        },
        callback: {
          register: { http: { method: "PUT", url: `${baseUrl}/test/callback`, body: { url: "{{url}}" } } },
        },
        ...(setting.faketime !== undefined && { clock: { faketime: { file: clockFile } } }),
      },
      ...(setting.name === "shortened" && { limits: { pushDelaysMs: [...setting.delaysMs] } }),
      receiver: { listen: { scheme: "http" } },
    } as Parameters<typeof writeProfile>[3]["profile"],
  });
  const stopped = new AbortController();
  if (fault === "worker-killed") void restartLater(service.restart, setting, stopped.signal);
  const flags = ["--profile", profile, "--section", "push", "--json", "--seed", "11", "--max-wait", "30m"];
  const time = setting.faketime ? { TZ: "UTC" } : {};
  const ran = await runCli(["conform", ...flags, "--out", path.join(folder, "run")], {
    env: { ...env, ...time },
  });
  stopped.abort();
  writeFileSync(path.join(folder, "document.json"), ran.stdout);
  const document = documentOf(ran);
  const isReal = setting.faketime === undefined;
  const late = isReal ? latenessOf(path.join(folder, "run/pushes.jsonl"), setting.delaysMs) : undefined;
  return { document, late, wallMs: ran.wallMs };
};

/** Kills the worker without warning between two retries, and starts it again at once. */
const restartLater = async (
  restart: () => Promise<void>,
  setting: Setting,
  signal: AbortSignal,
): Promise<void> => {
  const lengthMs = setting.delaysMs.reduce((sum, ms) => sum + ms, 0);
  await delay(lengthMs * 0.35, undefined, { signal }).catch(() => undefined);
  if (!signal.aborted) await restart();
};
