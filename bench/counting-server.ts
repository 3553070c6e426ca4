import { get } from "node:http";
import { text } from "node:stream/consumers";
import { startModule } from "../conformance/testing/start-cli.ts";

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
  const { line, stop } = startModule(program);
  const baseUrl = `http://127.0.0.1:${await line()}`;
  return {
    baseUrl,
    count: () =>
      new Promise((resolve, reject) => {
        // A separate connection, because one that was idle during a run may just be closing.
        get(`${baseUrl}/count`, { agent: false }, (answer) => {
          void text(answer).then((count) => resolve(Number(count)), reject);
        }).on("error", reject);
      }),
    [Symbol.asyncDispose]: async () => void (await stop("SIGKILL")),
  };
};
