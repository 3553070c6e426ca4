import autocannon from "autocannon";
import { readFileSync } from "node:fs";
import path from "node:path";
import { figure, root } from "../conformance/testing/measure.ts";
import { startNode } from "../conformance/testing/start-cli.ts";
import { defaultClients } from "./index.ts";
import { median } from "../reports/statistics/sample.ts";

interface Addresses {
  readonly baseUrl: string;
  readonly controlUrl: string;
}

const [client] = defaultClients;
if (client === undefined) throw new Error("the fake has clients");
const exchangeBody = (code: unknown): string =>
  JSON.stringify({ clientId: client.id, clientSecret: client.secret, code });

const REQUESTS = 20_000;
const ROUNDS = 3;
const CONNECTIONS = 16;

interface Call {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: () => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: () => string;
  /** The fake's answer, which the bare route gives as well. */
  readonly answer: unknown;
}

/** Requests per second served, from the first request to the last answer. */
const rate = (url: string, call: Call): Promise<number> =>
  new Promise((resolve, reject) => {
    const startedMs = performance.now();
    let lastMs = startedMs;
    const load = autocannon(
      {
        url,
        amount: REQUESTS,
        connections: CONNECTIONS,
        requests: [
          {
            method: call.method,
            headers: call.headers,
            setupRequest: (request) => ({
              ...request,
              path: call.path(),
              ...(call.body === undefined ? {} : { body: call.body() }),
            }),
          },
        ],
      },
      (error: Error | null, result) => {
        if (error !== null) reject(error);
        else if (result.non2xx > 0) reject(new Error(`${call.name}: ${result.non2xx} answers were not 2xx`));
        else resolve((REQUESTS * 1_000) / (lastMs - startedMs));
      },
    );
    // autocannon itself only ends on whole seconds.
    load.on("response", () => {
      lastMs = performance.now();
    });
  });

const CLOCK_TICKS = 100;

/** CPU seconds used by a process, from the kernel (Linux: proc(5), fields 14 and 15 of stat). */
const processorSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
};

/** The rate, and requests per second of the service's CPU time, which the client cannot limit. */
const loaded = async (
  pid: number,
  run: () => Promise<number>,
): Promise<{ rate: number; perCore: number }> => {
  const before = processorSeconds(pid);
  const measured = await run();
  return { rate: measured, perCore: REQUESTS / Math.max(0.01, processorSeconds(pid) - before) };
};

/**
 * A service in its own process, so that it and the client each have a core; it prints its addresses on its first line.
 */
const startProcess = async (file: string, parameters: readonly string[]) => {
  const { child, document, stop } = startNode([path.join(root, file), ...parameters]);
  return { addresses: (await document()) as Addresses, pid: child.pid ?? 0, stop: () => stop("SIGKILL") };
};

const bareService = (call: Call) =>
  startProcess("fake-server/testing/bare-route.ts", [
    call.method,
    new URL(call.path(), "http://x").pathname,
    JSON.stringify(call.answer),
  ]);

const json = { "content-type": "application/json" };

const calls = async (fake: Addresses): Promise<readonly Call[]> => {
  const authorize = `/open-api/oauth/authorize?clientId=${client.id}&state=abc123&redirectUri=${encodeURIComponent(client.redirectUri)}`;
  const get = async (
    path: string,
    headers: Record<string, string> = json,
  ): Promise<Record<string, unknown>> =>
    (await (await fetch(fake.baseUrl + path, { headers })).json()) as Record<string, unknown>;
  const post = async (body: string): Promise<Record<string, unknown>> =>
    (await (
      await fetch(`${fake.baseUrl}/open-api/oauth/access-token`, { method: "POST", headers: json, body })
    ).json()) as Record<string, unknown>;
  const accountId = "0f8fad5b-d9cb-469f-a165-70867728950e";
  for (let n = 0; n < 30; n += 1)
    await fetch(`${fake.controlUrl}/events`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ accountId }),
    });
  const tokens = await post(exchangeBody((await get(authorize))["code"]));
  const codes: unknown[] = [];
  while (codes.length < ROUNDS * REQUESTS + CONNECTIONS * 10)
    codes.push(
      ...(await Promise.all(Array.from({ length: 50 }, async () => (await get(authorize))["code"]))),
    );
  const headers = { ...json, "x-service-access-token": String(tokens["accessToken"]) };
  const list = `/open-api/v1/notifications?accountId=${accountId}`;
  return [
    { name: "authorize", method: "GET", path: () => authorize, headers: json, answer: await get(authorize) },
    {
      name: "exchange",
      method: "POST",
      path: () => "/open-api/oauth/access-token",
      headers: json,
      body: () => exchangeBody(codes.pop()),
      answer: tokens,
    },
    { name: "list", method: "GET", path: () => list, headers, answer: await get(list, headers) },
  ];
};

/** The fake and a bare Fastify route with the same answer, in turns within one run. */
export const throughput = async (): Promise<void> => {
  const fake = await startProcess("cli.ts", ["serve", "--json", "--clock", "flowing"]);
  try {
    for (const call of await calls(fake.addresses)) {
      const bare = await bareService(call);
      const perCore: number[] = [];
      const overall: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        // Each exchange uses up a code, so the bare twin gets worthless codes.
        const spare = call.body === undefined ? call : { ...call, body: () => exchangeBody("c".repeat(32)) };
        const bareRate = await loaded(bare.pid, () => rate(bare.addresses.baseUrl, spare));
        const fakeRate = await loaded(fake.pid, () => rate(fake.addresses.baseUrl, call));
        perCore.push(fakeRate.perCore / bareRate.perCore);
        overall.push(fakeRate.rate / bareRate.rate);
      }
      await bare.stop();
      figure(
        `${call.name}: requests per second of CPU time, as a share of a bare route's`,
        median(perCore).toFixed(2),
        "at least 0.80",
      );
      figure(
        `${call.name}: requests a second, as a share of a bare route's`,
        median(overall).toFixed(2),
        "at least 0.80",
      );
    }
  } finally {
    await fake.stop();
  }
};
