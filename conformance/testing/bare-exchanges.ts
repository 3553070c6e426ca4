import { Pool } from "undici";
import { fastify } from "fastify";

/** Number of concurrent requests: about as many as in a gate. */
const AT_A_TIME = 12;

/**
 * Prints the CPU time, in milliseconds, that undici and fastify alone take in one process for the number of exchanges
 * in the first argument: the baseline for the gate on the embedded fake.
 */
const exchanges = Number(process.argv[2]);
const server = fastify();
server.post("/open-api/oauth/access-token", (request, reply) => {
  const { code } = request.body as { code: string };
  return reply.send({ accessToken: `access-${code}`, refreshToken: `refresh-${code}`, expiresIn: 7_200 });
});
const origin = await server.listen({ port: 0, host: "127.0.0.1" });
const pool = new Pool(origin, { connections: AT_A_TIME });
let left = exchanges;
await Promise.all(
  Array.from({ length: AT_A_TIME }, async () => {
    while ((left -= 1) >= 0) {
      const { body } = await pool.request({
        method: "POST",
        path: "/open-api/oauth/access-token",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          clientId: "client-1",
          clientSecret: "secret-of-client-1",
          code: `code-${left}`,
        }),
      });
      await body.json();
    }
  }),
);
await pool.close();
await server.close();
const { user, system } = process.cpuUsage();
process.stdout.write(String((user + system) / 1_000));
