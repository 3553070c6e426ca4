import autocannon from "autocannon";
import Fastify from "fastify";
import { figure } from "../conformance/testing/measure.ts";
import { startFakeServer, type FakeServer } from "./index.ts";

const SECONDS = 3;
const ROUNDS = 3;
const CONNECTIONS = 16;
const CODES = 60_000;

interface Call {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: () => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: () => string;
  /** The answer of the fake, which the bare route gives as well. */
  readonly answer: unknown;
}

/** Requests a second that a service carries, with the client in the same process for both. */
const rate = async (url: string, call: Call): Promise<number> => {
  const result = await autocannon({
    url,
    duration: SECONDS,
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
  });
  if (result.non2xx > 0) throw new Error(`${call.name}: ${result.non2xx} answers were not 2xx`);
  return result.requests.average;
};

const bareService = async (call: Call) => {
  const app = Fastify();
  app.route({
    method: call.method,
    url: new URL(call.path(), "http://x").pathname,
    handler: () => call.answer,
  });
  return { url: await app.listen({ port: 0, host: "127.0.0.1" }), close: () => app.close() };
};

const json = { "content-type": "application/json" };

const calls = async (fake: FakeServer): Promise<readonly Call[]> => {
  const [client] = fake.clients;
  if (client === undefined) throw new Error("the fake has clients");
  const authorize = `/open-api/oauth/authorize?clientId=${client.id}&state=abc123&redirectUri=${encodeURIComponent(client.redirectUri)}`;
  const get = async (
    path: string,
    headers: Record<string, string> = json,
  ): Promise<Record<string, unknown>> =>
    (await (await fetch(fake.baseUrl + path, { headers })).json()) as Record<string, unknown>;
  const exchange = (code: unknown): string =>
    JSON.stringify({ clientId: client.id, clientSecret: client.secret, code });
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
  const tokens = await post(exchange((await get(authorize))["code"]));
  const codes: unknown[] = [];
  while (codes.length < CODES)
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
      body: () => exchange(codes.pop()),
      answer: tokens,
    },
    { name: "list", method: "GET", path: () => list, headers, answer: await get(list, headers) },
  ];
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The fake beside a bare Fastify route with the same answer, in turns within one run. */
export const throughput = async (): Promise<void> => {
  const fake = await startFakeServer({ clockMode: "flowing" });
  try {
    for (const call of await calls(fake)) {
      const bare = await bareService(call);
      const ratios: number[] = [];
      const rates: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        // The exchange uses a code a request, so its bare twin is loaded with codes of no worth.
        const spare =
          call.body === undefined
            ? call
            : {
                ...call,
                body: () =>
                  JSON.stringify({
                    clientId: "c".repeat(20),
                    clientSecret: "s".repeat(32),
                    code: "c".repeat(32),
                  }),
              };
        const bareRate = await rate(bare.url, spare);
        const fakeRate = await rate(fake.baseUrl, call);
        ratios.push(fakeRate / bareRate);
        rates.push(fakeRate);
      }
      await bare.close();
      figure(
        `${call.name}: ${Math.round(median(rates))} requests a second, of a bare route's`,
        median(ratios).toFixed(2),
        "at least 0.80",
      );
    }
  } finally {
    await fake.stop();
  }
};
