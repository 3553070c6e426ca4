import Fastify from "fastify";

/** A process with one Fastify route and one answer, as a baseline for the fake: `bare-route.ts METHOD PATH ANSWER`. */
const [method = "GET", url = "/", answer = "{}"] = process.argv.slice(2);
const app = Fastify();
const value: unknown = JSON.parse(answer);
app.route({ method, url, handler: () => value });
process.stdout.write(`${JSON.stringify({ baseUrl: await app.listen({ port: 0, host: "127.0.0.1" }) })}\n`);
