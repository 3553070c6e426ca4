import fc from "fast-check";
import { deflateRawSync, gzipSync } from "node:zlib";

/** What a hostile target does with one request: the bytes to write, and what happens to the connection then. */
export interface HostileAnswer {
  readonly kind: string;
  readonly bytes: Buffer;
  /** `endless` repeats the last kilobyte for ever; `drip` writes one byte at a time. */
  readonly afterwards: "end" | "reset" | "hold" | "endless" | "drip";
  /** The allowed outcomes: a complete answer, or the reasons of a TransportError. */
  readonly allowed: readonly Outcome[];
}

export type Outcome = "answer" | "refused" | "closed" | "timeout" | "too-large" | "protocol" | "throttled";

const broken: readonly Outcome[] = ["closed", "timeout", "protocol"];
const any: readonly Outcome[] = ["answer", ...broken, "throttled"];

const head = (lines: readonly string[], status = "200 OK"): string =>
  `HTTP/1.1 ${status}\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
const json = "content-type: application/json";
const answer = (body: Buffer | string, lines: readonly string[] = [], status?: string): Buffer => {
  const content = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(head([json, ...lines, `content-length: ${content.length}`], status), "latin1"),
    content,
  ]);
};
const text = (value: string): Buffer => Buffer.from(value, "latin1");
const made = (
  kind: string,
  bytes: Buffer,
  afterwards: HostileAnswer["afterwards"],
  allowed: readonly Outcome[],
): HostileAnswer => ({ kind, bytes, afterwards, allowed });

const ended = fc.constantFrom("end" as const, "reset" as const, "hold" as const);

const endless = fc.constantFrom("chunked", "length", "close", "headers", "status").map((way) => {
  const block = "x".repeat(1_024);
  const body = {
    chunked: `400\r\n${block}\r\n`,
    length: block,
    close: block,
    headers: `x-a: ${block}\r\n`,
    status: block,
  }[way];
  const headers: Readonly<Record<string, readonly string[]>> = {
    chunked: ["transfer-encoding: chunked"],
    length: ["content-length: 99999999999"],
    close: [],
  };
  const lines = headers[way];
  const first =
    lines === undefined ? (way === "status" ? "HTTP/1.1 200 " : "HTTP/1.1 200 OK\r\n") : head(lines);
  const reasons = lines === undefined ? broken : (["too-large", "timeout"] as const);
  return made(`a body without end, by ${way}`, text(first + body), "endless", reasons);
});

const manyHeaders = fc
  .tuple(fc.integer({ min: 1, max: 10_000 }), fc.constantFrom("a", "x-long-name-of-a-header", "set-cookie"))
  .map(([count, name]) => {
    const lines = Array.from({ length: count }, (_, index) => `${name}: ${index}`);
    // Common clients read up to 16 KiB of headers.
    const allowed: readonly Outcome[] =
      count * (name.length + 4) < 8_000 ? ["answer"] : ["answer", ...broken];
    return made("10,000 headers", answer("{}", lines), "hold", allowed);
  });

const chunking = fc
  .tuple(
    fc.constantFrom("zz", "-1", "0x5", "FFFFFFFFFFFFFFFFFF", '5;ext="', "", " 5", "5\r", "1e1", "+5"),
    ended,
  )
  .map(([size, afterwards]) =>
    made(
      "bad chunking",
      text(`${head([json, "transfer-encoding: chunked"])}5\r\nhello\r\n${size}\r\n{"a":\r\n0\r\n\r\n`),
      afterwards,
      any,
    ),
  );

const invalidUtf8 = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) =>
    made("invalid UTF-8", answer(Buffer.concat([text('{"code":"'), bytes, text('"}')])), "hold", ["answer"]),
  );

const deep = fc
  .tuple(fc.integer({ min: 1, max: 300_000 }), fc.constantFrom("array", "object", "unclosed"))
  .map(([depth, way]) => {
    const [open, close] = way === "object" ? ['{"a":', "}"] : ["[", "]"];
    const body = `${open.repeat(depth)}1${way === "unclosed" ? "" : close.repeat(depth)}`;
    return made("deep JSON", answer(body), "hold", ["answer"]);
  });

const drip = fc
  .constantFrom(0, 9, 20, 60)
  .map((first) =>
    made(
      "a slow drip",
      text(answer('{"code":"never whole"}'.padEnd(400)).toString("latin1").slice(first)),
      "drip",
      broken,
    ),
  );

const wrongLength = fc
  .tuple(fc.integer({ min: -50, max: 50 }), ended, fc.boolean())
  .map(([off, afterwards, twice]) => {
    const body = "x".repeat(100);
    const lines = [json, `content-length: ${100 + off}`, ...(twice ? ["content-length: 7"] : [])];
    const allowed: readonly Outcome[] = twice ? broken : off <= 0 ? ["answer"] : broken;
    return made("a wrong length", text(head(lines) + body), afterwards, allowed);
  });

const bomb = Object.fromEntries(
  (
    [
      ["gzip", gzipSync],
      ["deflate", deflateRawSync],
    ] as const
  ).map(([name, compress]) => [name, compress(Buffer.alloc(10_485_760))]),
);
const bombs = fc
  .constantFrom("gzip", "deflate", "br", "gzip, gzip")
  .map((encoding) =>
    made(
      "a compressed bomb",
      answer(bomb[encoding] ?? bomb["gzip"] ?? "", [`content-encoding: ${encoding}`]),
      "hold",
      ["answer", "too-large"],
    ),
  );

const redirects = fc
  .tuple(
    fc.constantFrom("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"),
    fc.constantFrom(
      "/itself",
      "//[",
      "http://127.0.0.1:1/",
      "?code=&state=",
      "\u00ff",
      "javascript:alert(1)",
      "",
    ),
  )
  .map(([status, to]) =>
    made("a redirect in circles", answer("", [`location: ${to}`], status), "hold", ["answer"]),
  );

const whole = answer('{"code":"a-code-of-24-characters","state":"s","timestamp":1}').toString("latin1");
const cutOff = fc
  .tuple(fc.integer({ min: 0, max: whole.length - 1 }), ended)
  .map(([size, afterwards]) =>
    made("a connection that ends early", text(whole.slice(0, size)), afterwards, broken),
  );

const garbage = fc
  .tuple(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom("", "HTTP/1.1 ", "HTTP/1.1 200 OK\r\n", "HTTP/2 200\r\n\r\n"),
    ended,
  )
  .map(([bytes, before, afterwards]) =>
    made("garbage", Buffer.concat([text(before), Buffer.from(bytes)]), afterwards, [...any, "too-large"]),
  );

const statuses = fc
  .constantFrom(
    "99 Low",
    "600 High",
    "-1 Below",
    "999 Top",
    "20 Short",
    "2000 Long",
    "abc Text",
    "204 None",
    "304 Same",
    "101 Switching Protocols",
  )
  .map((status) =>
    made("a status that is none", answer('{"a":1}', [], status), "end", [...any, "too-large"]),
  );

const informational = fc
  .tuple(
    fc.integer({ min: 1, max: 300 }),
    fc.constantFrom("100 Continue", "102 Processing", "103 Early Hints"),
  )
  .map(([count, status]) =>
    made(
      "informational answers",
      Buffer.concat([text(`HTTP/1.1 ${status}\r\n\r\n`.repeat(count)), answer("{}")]),
      "hold",
      any,
    ),
  );

const headerLines = fc
  .tuple(
    fc.constantFrom(
      "x: a\0b",
      "x\0y: 1",
      ": empty",
      "no colon",
      "x : space",
      " folded",
      "x:\u0001\u007f",
      "tab\there: 1",
      "x: \u00e9\u0080",
      "\nbare: lf",
    ),
    ended,
  )
  .map(([line, afterwards]) => made("headers that are none", answer("{}", [line]), afterwards, any));

const later = fc
  .tuple(
    fc.constantFrom("429 Slow", "503 Later"),
    fc.constantFrom(
      "0",
      "-5",
      "1e9",
      "99999999999999999999",
      "NaN",
      "Thu, 01 Jan 1970 00:00:00 GMT",
      "Fri, 31 Dec 9999 23:59:59 GMT",
      "soon",
      "",
    ),
  )
  .map(([status, when]) =>
    made("a Retry-After out of all measure", answer("{}", [`retry-after: ${when}`], status), "hold", [
      "answer",
      "throttled",
    ]),
  );

const bodies = fc
  .constantFrom(
    '{"__proto__":{"code":"polluted"},"code":1}',
    '{"constructor":{"prototype":{"code":"polluted"}}}',
    '{"code":"a","code":"b","code":null}',
    `{"expiresIn":1e400,"timestamp":-1e400,"total":${"9".repeat(400)}}`,
    `{"code":${JSON.stringify("\u202e\u0000\u001b[2J".repeat(50))}}`,
    "\ufeff{}",
    "null",
    `"${"a".repeat(1_000_000)}"`,
    `[${"0,".repeat(400_000)}0]`,
  )
  .map((body) => made("a body to stumble over", answer(body), "hold", ["answer"]));

/** Everything that a target can do wrong to a client, one answer at a time. */
export const hostileAnswer: fc.Arbitrary<HostileAnswer> = fc.oneof(
  { arbitrary: endless, weight: 1 },
  { arbitrary: drip, weight: 1 },
  { arbitrary: deep, weight: 2 },
  { arbitrary: manyHeaders, weight: 2 },
  { arbitrary: bodies, weight: 3 },
  { arbitrary: bombs, weight: 3 },
  ...[
    chunking,
    invalidUtf8,
    wrongLength,
    redirects,
    cutOff,
    garbage,
    statuses,
    informational,
    headerLines,
    later,
  ].map((arbitrary) => ({ arbitrary, weight: 6 })),
);
