import http from "node:http";
import { createGunzip } from "node:zlib";

/** A request of a test. */
export interface Asked {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | undefined;
  readonly agent?: http.Agent;
}

/** Sends a request over HTTP without following redirects. `fetch` would take longer than the service. */
export const ask = (
  url: string,
  { body: sent, ...options }: Asked,
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, options, (answer) => {
      let text = "";
      const body = answer.headers["content-encoding"] === "gzip" ? answer.pipe(createGunzip()) : answer;
      body.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      answer.on("error", reject);
      body.on("error", reject);
      body.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: new Headers(
            Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
              values.map((value): [string, string] => [name, value]),
            ),
          ),
          text,
        }),
      );
    });
    request.on("error", reject);
    request.end(sent);
  });

/** Calls a control interface; an empty answer is an empty object. */
export const askControl = async (url: string, method = "GET", sent?: unknown) => {
  const { status, text } = await ask(url, {
    method,
    headers: sent === undefined ? {} : { "content-type": "application/json" },
    body: sent === undefined ? undefined : JSON.stringify(sent),
  });
  return { status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
};
