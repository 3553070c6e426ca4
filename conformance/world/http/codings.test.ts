import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { codingsOf, decoded } from "./codings.ts";

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
