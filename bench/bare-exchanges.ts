import { fastify, type FastifyInstance } from "fastify";
import { Client, Pool, type Dispatcher } from "undici";
import { mapLimited } from "../conformance/checks/map-limited.ts";
import { madeNotification } from "../conformance/testing/made.ts";
import { currentLeaf, makeCa } from "../fake-server/receiver/certificate.ts";

/** Number of concurrent requests: about as many as in a gate. */
const AT_A_TIME = 12;

/*
 * Prints the CPU time, in milliseconds, that undici and fastify alone take in one process, including start-up: for the
 * number of exchanges in the first argument; and with the pushes over TLS in the second, on as many connections as the
 * third says. They are the baselines for the gate on the embedded fake.
 */
const [exchanges = 0, pushes = 0, connections = 0] = process.argv.slice(2).map(Number);

/** Calls it with each number below `count`, `AT_A_TIME` at a time. */
const forEach = (count: number, work: (n: number) => Promise<void>): Promise<unknown> =>
  mapLimited(
    Array.from({ length: count }, (_, n) => n),
    AT_A_TIME,
    work,
  );

const post = async (dispatcher: Dispatcher, path: string, sent: unknown): Promise<void> => {
  const headers = { "content-type": "application/json" };
  const origin = "http://of.the.dispatcher";
  const { body } = await dispatcher.request({
    origin,
    method: "POST",
    path,
    headers,
    body: JSON.stringify(sent),
  });
  await body.json();
};

const listen = (server: Pick<FastifyInstance, "listen">): Promise<string> =>
  server.listen({ port: 0, host: "127.0.0.1" });

const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const service = fastify();
service.post<{ Body: { code: string } }>("/open-api/oauth/access-token", ({ body: { code } }, reply) =>
  reply.send({ accessToken: `access-${code}`, refreshToken: `refresh-${code}`, expiresIn: 7_200 }),
);
const pool = new Pool(await listen(service), { connections: AT_A_TIME });
await forEach(exchanges, (n) =>
  post(pool, "/open-api/oauth/access-token", {
    clientId: "client-1",
    clientSecret: "secret-of-client-1",
    code: `code-${n}`,
  }),
);
await pool.close();
await service.close();
const exchangesMs = spentMs();

const ca = await makeCa(Date.now());
const { certPem: cert, keyPem: key } = await currentLeaf(ca, ["127.0.0.1"], Date.now());
// Making certificates is no exchange.
const certificatesMs = spentMs() - exchangesMs;
const receiver = fastify({ https: { cert, key } });
receiver.post<{ Body: { id: string } }>("/service/webhook", ({ body: { id } }, reply) =>
  reply.send({ id, received: true }),
);
const callback = await listen(receiver);
await forEach(connections, async (connection) => {
  const client = new Client(callback, { connect: { ca: ca.certPem } });
  for (let n = connection; n < pushes; n += connections)
    await post(client, "/service/webhook", {
      ...madeNotification,
      id: `notification-${n}`,
      accountId: `account-${n}`,
    });
  await client.close();
});
await receiver.close();
process.stdout.write(JSON.stringify({ exchangesMs, withPushesMs: spentMs() - certificatesMs }));
