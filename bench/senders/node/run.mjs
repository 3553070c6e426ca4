import { createServer } from "node:http";

/**
 * One of the two processes of a queue in Node: `node run.mjs QUEUE enqueue` takes jobs over HTTP at JOBS_PORT, and
 * `node run.mjs QUEUE work` pushes.
 */
const [, , name, role] = process.argv;
const queue = await import(`./${name}.mjs`);
if (role === "work") await queue.work();
else {
  const add = await queue.open();
  createServer(async (request, response) => {
    const chunks = await request.toArray();
    await add({ url: request.headers["x-callback"], body: Buffer.concat(chunks).toString("utf8") });
    response.end();
  }).listen(Number(process.env.JOBS_PORT), "127.0.0.1");
}
