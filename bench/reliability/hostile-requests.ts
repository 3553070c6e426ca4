import fc from "fast-check";
import { gzipSync } from "node:zlib";

/** What a hostile sender writes on one connection, and what it does then. */
export interface HostileRequest {
  readonly kind: string;
  readonly bytes: Buffer;
  readonly afterwards: "end" | "reset" | "hold";
}

const text = (value: string): Buffer => Buffer.from(value, "latin1");
const ended = fc.constantFrom("end" as const, "reset" as const, "hold" as const);

/** Hostile requests for these paths, with every method that one of them may take. */
export const hostileRequest = (paths: readonly string[]): fc.Arbitrary<HostileRequest> => {
  const target = fc.constantFrom(...paths.flatMap((path) => [`GET ${path}`, `POST ${path}`, `PUT ${path}`]));
  const request = (line: string, headers: readonly string[], body: Buffer | string = ""): Buffer =>
    Buffer.concat([
      text(`${line} HTTP/1.1\r\nhost: x\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n`),
      Buffer.from(body),
    ]);
  const json = "content-type: application/json";
  const sized = (line: string, body: Buffer | string, headers: readonly string[] = []): Buffer =>
    request(line, [json, `content-length: ${Buffer.byteLength(body)}`, ...headers], body);
  const made = <T>(kind: string, given: fc.Arbitrary<T>, bytesOf: (line: string, given: T) => Buffer) =>
    fc
      .tuple(target, given, ended)
      .map(([line, one, afterwards]): HostileRequest => ({ kind, bytes: bytesOf(line, one), afterwards }));

  const bodies = fc.oneof(
    fc.integer({ min: 1, max: 100_000 }).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`),
    fc.integer({ min: 1, max: 100_000 }).map((depth) => '{"id":'.repeat(depth)),
    fc.constantFrom(
      '{"__proto__":{"clientId":"x"},"id":"y"}',
      '{"clientId":"a","clientId":{"toString":1}}',
      '{"id":null,"accountId":[],"clientSecret":{"length":1e9}}',
      `{"code":"${"x".repeat(1_000_000)}"}`,
      `{"id":"\u0000\u202e${"\ud800".repeat(20)}","n":1e999}`,
      "\ufeff{}",
      "",
    ),
    fc.json({ maxDepth: 6 }),
  );
  const bomb = gzipSync(Buffer.alloc(4_194_304));

  return fc.oneof(
    made("deep and strange JSON", bodies, (line, body) => sized(line, body)),
    made("bytes that are no UTF-8", fc.uint8Array({ maxLength: 500 }), (line, body) =>
      sized(line, Buffer.from(body)),
    ),
    made("many headers", fc.integer({ min: 1, max: 10_000 }), (line, count) =>
      request(
        line,
        Array.from({ length: count }, (_, index) => `x-${index % 50}: ${index}`),
      ),
    ),
    made("bad chunking", fc.constantFrom("zz", "-1", "FFFFFFFFFFFFFFFFF", '5;x="', "", "5\r"), (line, size) =>
      request(line, [json, "transfer-encoding: chunked"], `2\r\n{}\r\n${size}\r\n{}\r\n0\r\n\r\n`),
    ),
    made(
      "a wrong length",
      fc.tuple(fc.integer({ min: -1, max: 60 }), fc.boolean()),
      (line, [length, twice]) => {
        const headers = [json, `content-length: ${length}`, ...(twice ? ["transfer-encoding: chunked"] : [])];
        return request(line, headers, '{"id":"twenty-six characters"}');
      },
    ),
    made("a compressed bomb", fc.constant(bomb), (line, body) =>
      sized(line, body, ["content-encoding: gzip"]),
    ),
    made("a request that ends early", fc.integer({ min: 0, max: 120 }), (line, size) =>
      sized(line, '{"id":"cut"}'.padEnd(60)).subarray(0, size),
    ),
    made(
      "garbage",
      fc.tuple(fc.constantFrom("", "POST / HTTP/1.1\r\n", "GET "), fc.uint8Array({ maxLength: 400 })),
      (_, [before, bytes]) => Buffer.concat([text(before), bytes]),
    ),
    made("a strange line", fc.tuple(strangeLines, strangeHeaders), (_, [line, header]) =>
      request(line, header === "" ? [] : [header]),
    ),
    made("many at once", fc.integer({ min: 2, max: 60 }), (line, count) =>
      Buffer.concat(Array.from({ length: count }, () => sized(line, "{}"))),
    ),
  );
};

const strangeLines = fc.constantFrom(
  "OPTIONS *",
  "CONNECT x:1",
  "PRI *",
  "TRACE /",
  "GET http://[",
  `GET /${"a".repeat(20_000)}`,
  "get /",
  "GET /%00%ff%zz?%=&&=%&a[]=1&__proto__=1",
  "POST //",
  "GET /../../etc/passwd",
);
const strangeHeaders = fc.constantFrom(
  "",
  "expect: 100-continue",
  "expect: magic",
  "upgrade: websocket",
  "connection: upgrade",
  "transfer-encoding: gzip, chunked",
  "content-length: 99999999999999999999",
  "cookie: a=\u0001",
);
