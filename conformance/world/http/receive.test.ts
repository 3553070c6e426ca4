import { Client } from "undici";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../../testing/servers.ts";
import { stopAfterEach } from "../../testing/stopping.ts";
import { receive, codingsOf, decoded } from "./receive.ts";
import { slowLimitMs } from "./send.ts";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";

const stopping = stopAfterEach();

describe("the time limit of a request", () => {
  const slow = async () => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const { origin } = await stopping(
      serveHttp((_request, response) => void asked.then(() => response.end("late"))),
    );
    const client = new Client(origin);
    await stopping({ stop: () => client.destroy() });
    return { client, answer };
  };
  const request = { method: "GET", path: "/", headers: [] } as const;

  it("is longer if answers have become slow by then", async () => {
    const { client, answer } = await slow();
    // Nothing is answered before the first limit is over.
    const nowSlow = (): number => {
      answer();
      return 600_000;
    };
    const { text } = await receive(client, request, { timeoutMs: 200, slowLimitMs: nowSlow });
    expect(text).toBe("late");
  });

  it("holds while answers are quick, and names what was waited", async () => {
    const { client } = await slow();
    await expect(receive(client, request, { timeoutMs: 50, slowLimitMs: () => 40 })).rejects.toThrow(
      "no complete answer within 50 ms",
    );
    await expect(receive(client, request, { timeoutMs: 50, slowLimitMs: () => 90 })).rejects.toThrow(
      "no complete answer within 90 ms",
    );
  });

  it("does not end a request whose answer this process was too busy to read", async () => {
    const timeoutMs = 1_000;
    const { origin } = await stopping(
      serveHttp((_request, response) => {
        response.end("in time");
        const startMs = performance.now();
        setImmediate(() => {
          while (performance.now() < startMs + timeoutMs);
        });
      }),
    );
    const client = new Client(origin);
    await stopping({ stop: () => client.destroy() });
    expect(await receive(client, request, { timeoutMs })).toMatchObject({ text: "in time" });
  });

  it("grows with the response time, up to a multiple", () => {
    const limitMs = (responseMs: number): number =>
      slowLimitMs({ health: { roundTripMs: () => responseMs } }, 10_000);
    expect(limitMs(20)).toBe(160);
    expect(limitMs(3_000)).toBe(24_000);
    expect(limitMs(30_000)).toBe(60_000);
  });
});

const text = '{"data":[],"total":0}';
const plain = Buffer.from(text);

it.each([
  ["gzip", gzipSync(plain)],
  ["X-GZip", gzipSync(plain)],
  ["deflate", deflateSync(plain)],
  ["br", brotliCompressSync(plain)],
  ["identity", plain],
  ["gzip, br", brotliCompressSync(gzipSync(plain))],
])("a body with the coding %s is decoded", async (value, body) => {
  expect((await decoded(body, codingsOf([["content-encoding", value]]), 100)).toString()).toBe(text);
});

it.each(["gzip", "deflate", "br", "made-up"])(
  "a body that is not in its coding %s stays as it is",
  async (coding) => {
    expect(await decoded(plain, [coding], 100)).toBe(plain);
  },
);

it.each([gzipSync, brotliCompressSync])(
  "a small body that decodes to a large one is refused",
  async (encode) => {
    const bomb = encode(Buffer.alloc(1_000_000));
    expect(bomb.length).toBeLessThan(2_000);
    const coding = encode === gzipSync ? "gzip" : "br";
    await expect(decoded(bomb, [coding], 10_000)).rejects.toThrow(RangeError);
  },
);
