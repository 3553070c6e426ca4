import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

const program = `
import { createServer } from "node:http";
let count = 0;
const server = createServer((request, response) => {
  if (request.url === "/count") return response.end(String(count));
  count += 1;
  response.setHeader("content-type", "application/json").end('{"data":[],"total":0}');
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

export interface CountingServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** Requests answered so far. */
  readonly count: () => Promise<number>;
}

/** A minimal server in its own process that counts requests. */
export const startCountingServer = async (): Promise<CountingServer> => {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    count: () =>
      new Promise((resolve, reject) => {
        // A separate connection, because one that was idle during a run may just be closing.
        get(`${baseUrl}/count`, { agent: false }, (answer) => {
          void text(answer).then((count) => resolve(Number(count)), reject);
        }).on("error", reject);
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
};
