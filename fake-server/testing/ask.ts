import http from "node:http";

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
  { body, ...options }: Asked,
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      answer.on("error", reject);
      answer.on("end", () =>
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
    request.end(body);
  });
