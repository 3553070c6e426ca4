import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import path from "node:path";
import autocannon from "autocannon";
import type { ReceiverState } from "../conformance/contract/push.ts";
import { startNode } from "../conformance/testing/start-cli.ts";
import { figure, mebibytes } from "../conformance/testing/measure.ts";
import type { RunningReceiver } from "../fake-server/receiver/start.ts";
import { startReceiverProcess, readPushes } from "../fake-server/receiver/testing/receivers.ts";
import { notification, operate } from "../fake-server/receiver/testing/sender.ts";
import { median } from "../reports/statistics/sample.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const SECONDS = 3;
const ROUNDS = 3;
const CONNECTIONS = 32;
const NOTIFICATIONS = 100_000;
const STAMPED_RATE = 1_000;
const STAMPED_SECONDS = 5;

interface Running {
  readonly url: string;
  readonly caPem: string;
}

/** A bare Node server: it reads the body, parses it and acknowledges; no stamps, no record, no journal. */
const startBare = async (folder: string) => {
  const source = `
    const { createServer } = require("node:https");
    const { readFileSync } = require("node:fs");
    const read = (name) => readFileSync(require("node:path").join(process.argv[1], name), "utf8");
    createServer({ cert: read("server.pem"), key: read("server-key.pem") }, (request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        const body = JSON.stringify({ id: JSON.parse(Buffer.concat(chunks).toString()).id, received: true });
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
        response.end(body);
      });
    }).listen(0, "127.0.0.1", function () { console.log(JSON.stringify(this.address().port)); });`;
  const { line, stop } = startNode(["-e", source, folder]);
  return {
    url: `https://127.0.0.1:${await line()}/service/webhook`,
    caPem: readFileSync(path.join(folder, "ca.pem"), "utf8"),
    stop,
  };
};

let made = 0;
const freshBody = (): string => {
  made += 1;
  return JSON.stringify(notification(`00000000-0000-4000-8000-${String(made).padStart(12, "0")}`));
};

const rate = async (
  { url, caPem }: Running,
  limits: { duration?: number; amount?: number },
): Promise<number> => {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    ...limits,
    tlsOptions: { ca: caPem },
    requests: [
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        setupRequest: (asked) => ({ ...asked, body: freshBody() }),
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} answers were not 2xx, ${result.errors} pushes failed`);
  return result.requests.average;
};

const residentBytes = (child: ChildProcess): { now: number; peak: number } => {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    const of = (name: string): number =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1_024;
    return { now: of("VmRSS"), peak: of("VmHWM") };
  } catch {
    return { now: 0, peak: 0 };
  }
};

/**
 * The offset of the receiver's clock from this process's, in milliseconds: from the fastest of many requests for its
 * time, accurate to half its round trip.
 */
const clockOffset = async (receiver: RunningReceiver): Promise<{ offsetMs: number; withinMs: number }> => {
  const control = operate(receiver);
  let best = { offsetMs: 0, withinMs: Infinity };
  for (let question = 0; question < 200; question += 1) {
    const askedMs = performance.now();
    const { nowMs } = (await control.call("GET", "/state")).body as ReceiverState;
    const answeredMs = performance.now();
    const withinMs = (answeredMs - askedMs) / 2;
    if (withinMs < best.withinMs) best = { offsetMs: nowMs - (askedMs + answeredMs) / 2, withinMs };
  }
  return best;
};

/** Sends pushes at a steady rate and records when each was handed to the socket, by its id. */
const sendSteadily = async (receiver: RunningReceiver): Promise<ReadonlyMap<string, number>> => {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 64,
    scheduling: "fifo",
    ...(receiver.caPem === undefined ? {} : { ca: receiver.caPem }),
  });
  const sent = new Map<string, number>();
  const beganMs = performance.now();
  const done: Promise<void>[] = [];
  for (let count = 0; count < STAMPED_RATE * STAMPED_SECONDS; count += 1) {
    const dueMs = beganMs + (count * 1_000) / STAMPED_RATE;
    while (performance.now() < dueMs) await new Promise((resolve) => setTimeout(resolve, 1));
    const id = `stamped-${count}`;
    done.push(
      new Promise((resolve, reject) => {
        const asked = request(
          receiver.callbackUrl,
          { method: "POST", agent, headers: { "content-type": "application/json" } },
          (response) => {
            response.resume();
            response.once("close", resolve);
          },
        );
        asked.once("error", reject);
        // With a free connection the bytes leave within `end`; otherwise when the connection is established.
        asked.once("socket", (socket) => {
          const note = (): void => void sent.set(id, performance.now());
          if (socket.connecting) socket.once("secureConnect", note);
          else note();
        });
        asked.end(JSON.stringify(notification(id)));
      }),
    );
  }
  await Promise.all(done);
  agent.destroy();
  return sent;
};

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

const throughput = async (folder: string): Promise<void> => {
  const { receiver, stop } = await startReceiverProcess({
    certificateFolder: folder,
    journal: path.join(folder, "rate.jsonl"),
  });
  const bare = await startBare(folder);
  const [rates, ratios]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareRate = await rate(bare, { duration: SECONDS });
    const own = await rate({ url: receiver.callbackUrl, caPem: receiver.caPem ?? "" }, { duration: SECONDS });
    rates.push(own);
    ratios.push(own / bareRate);
  }
  await Promise.all([stop(), bare.stop()]);
  figure(
    `pushes a second over TLS, kept alive, each journalled before its answer (${CONNECTIONS} connections)`,
    median(rates).toFixed(0),
    "at least 5000",
  );
  figure(
    "  as a share of a bare https server's in this run",
    median(ratios).toFixed(2),
    "as high as it gets",
  );
};

const stampError = async (folder: string): Promise<void> => {
  const { receiver, stop } = await startReceiverProcess({
    certificateFolder: folder,
    journal: path.join(folder, "stamps.jsonl"),
  });
  const { offsetMs, withinMs } = await clockOffset(receiver);
  const sent = await sendSteadily(receiver);
  const { lines } = await operate(receiver).lines();
  await stop();
  const pushes = lines.flatMap((line) => (line.kind === "push" ? [line] : []));
  const errors = pushes.map(
    ({ notificationId, firstByteMs }) => firstByteMs - offsetMs - (sent.get(notificationId ?? "") ?? NaN),
  );
  figure(
    `stamp error at ${STAMPED_RATE} pushes a second, p99`,
    `${percentile(errors, 0.99).toFixed(2)} ms`,
    "under 20 ms",
  );
  figure("  its median", `${percentile(errors, 0.5).toFixed(2)} ms`, "-");
  figure(
    "  uncertainty that the receiver states, p99",
    `${percentile(
      pushes.map(({ uncertaintyMs }) => uncertaintyMs),
      0.99,
    ).toFixed(2)} ms`,
    "-",
  );
  process.stdout.write(
    `  method: ${pushes.length} pushes from another process, each noted when its bytes are handed to the socket; the two\n` +
      `  monotonic clocks compared by 200 questions to GET /state, the quickest of which is right within ${withinMs.toFixed(2)} ms;\n` +
      "  error = first-byte stamp less that moment, the way there included\n",
  );
};

const memory = async (folder: string): Promise<void> => {
  const journal = path.join(folder, "memory.jsonl");
  const first = await startReceiverProcess({ certificateFolder: folder, journal });
  await rate(
    { url: first.receiver.callbackUrl, caPem: first.receiver.caPem ?? "" },
    { amount: NOTIFICATIONS },
  );
  const writing = residentBytes(first.child);
  await first.stop();
  const second = await startReceiverProcess({ certificateFolder: folder, journal });
  const reading = residentBytes(second.child);
  await second.stop();
  figure(
    `peak memory after ${NOTIFICATIONS} notifications, as fast as they come`,
    mebibytes(writing.peak),
    "under 300 MiB",
  );
  figure("peak memory of a receiver that continues their journal", mebibytes(reading.peak), "under 300 MiB");
  const beganMs = performance.now();
  let records = 0;
  for await (const lines of readPushes(journal)) records += lines.length;
  figure(
    `journal read back (${records} records), records a second`,
    (records / ((performance.now() - beganMs) / 1_000)).toFixed(0),
    "over 200000",
  );
};

export const receiver = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  await throughput(folder);
  await stampError(folder);
  await memory(folder);
};
