import { endpoints } from "../contract/forms.ts";
import type { RawRequest } from "../world/raw.ts";

/** A request that no client should send, but that every service must still answer. */
export interface Malformed {
  readonly name: string;
  readonly request: RawRequest;
  /** Server errors that are a correct answer to it: 501 for an unknown method (RFC 9110 section 15.6.2). */
  readonly fitting?: readonly number[];
}

/** The valid values in malformed requests, which get them past the first check. */
export interface Right {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly code: string;
  readonly refreshToken: string;
  readonly accessToken: string;
}

const json = ["content-type", "application/json"] as const;
const utf8 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

/** JSON texts for a field that should be a string. */
const oddValues = [
  ..."null 0 -1 1e400 true [] {}".split(" "),
  ...`"" ["a"] {"a":1} {"$gt":""} "__proto__" "constructor"`.split(" "),
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"a\\nb"',
  `"' OR 1=1 --"`,
  '"../../../etc/passwd"',
  '"%00%zz"',
  `"${"x".repeat(20_000)}"`,
  `"${utf8("ß😀")}"`,
];

/** Whole bodies that hold no request. */
const oddBodies: Readonly<Record<string, string>> = {
  "an empty body": "",
  "half a JSON text": '{"clientId":"a',
  "a JSON array": "[]",
  "a JSON null": "null",
  "a JSON text": '"text"',
  "a JSON number": "1e999",
  "an empty object": "{}",
  "no JSON at all": "clientId=a&code=b",
  "an object with __proto__": '{"__proto__":{"clientId":"a"},"constructor":{"prototype":{}}}',
  "deep nesting": `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
  "deep nesting of objects": `${'{"clientId":'.repeat(2_000)}1${"}".repeat(2_000)}`,
  "a byte order mark": utf8('\uFEFF{"clientId":"a"}'),
  "broken UTF-8": '{"clientId":"\xFF\xC3\x28"}',
  "NUL bytes": "\0\0\0\0",
  "64 KiB of spaces": " ".repeat(65_536),
};

const oddContentTypes = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "application/xml",
  "application/json; charset=utf-99",
  "application/json;;;",
  "application/json, text/html",
  "a",
  "/",
] as const;

/** Text after the question mark, one byte per character. */
const oddQueries = [
  ..."% %zz %00 %FF %C0%80 &&&==& = ? a[b][c]=1 __proto__[x]=1".split(" "),
  "x".repeat(7_000),
  "a=1&".repeat(500),
  "\xFF\xFE",
  "\xC3\xA9=\xC3\xA9",
];

const oddNumbers = [
  "-1",
  "0",
  "1.5",
  "1e309",
  "9007199254740993",
  "abc",
  "",
  "NaN",
  "%00",
  "1'",
  "0x10",
] as const;

const malformedQueries = (path: string, rest: string, headers: RawRequest["headers"] = [json]): Malformed[] =>
  oddQueries.map((query) => ({
    name: `GET ${path} with the query ${named(query)}`,
    request: { method: "GET", path: `${path}?${rest}${query}`, headers },
  }));

const malformedPosts = (path: string, right: Readonly<Record<string, string>>): Malformed[] => [
  ...Object.entries(oddBodies).map(([name, body]) => ({
    name: `POST ${path} with ${name}`,
    request: { method: "POST", path, headers: [json], body },
  })),
  ...Object.keys(right).flatMap((field) =>
    oddValues.map((value) => ({
      name: `POST ${path} with ${field} ${named(value)}`,
      request: { method: "POST", path, headers: [json], body: bodyWith(right, field, value) },
    })),
  ),
  ...oddContentTypes.map((type) => ({
    name: `POST ${path} as ${type}`,
    request: {
      method: "POST",
      path,
      headers: [["content-type", type] as const],
      body: JSON.stringify(right),
    },
  })),
];

const bodyWith = (right: Readonly<Record<string, string>>, field: string, json: string): string =>
  `{${Object.entries(right)
    .map(([name, value]) => `"${name}":${name === field ? json : JSON.stringify(value)}`)
    .join(",")}}`;

const named = (text: string): string => (text.length > 40 ? `${text.slice(0, 20)}… (${text.length})` : text);

/** Malformed requests to every endpoint. Their codes are used up or unknown, so that none of them can succeed. */
export const malformedRequests = (right: Right): readonly Malformed[] => {
  const { clientId, clientSecret, redirectUri, code, refreshToken, accessToken } = right;
  const token = ["x-service-access-token", accessToken] as const;
  const client = `clientId=${encodeURIComponent(clientId)}&redirectUri=${encodeURIComponent(redirectUri)}`;
  return [
    ...malformedQueries(endpoints.authorize.path, ""),
    ...malformedQueries(endpoints.authorize.path, `${client}&state=`),
    ...malformedQueries(
      endpoints.authorize.path,
      `clientId=${encodeURIComponent(clientId)}&state=a&redirectUri=`,
    ),
    ...malformedPosts(endpoints.exchange.path, { clientId, clientSecret, code }),
    ...malformedPosts(endpoints.refresh.path, { clientId, refreshToken }),
    ...malformedQueries(endpoints.list.path, "", [token, json]),
    ...["limit", "page", "id", "accountId"].flatMap((name) =>
      oddNumbers.map((value) => ({
        name: `GET ${endpoints.list.path} with ${name}=${value}`,
        request: { method: "GET", path: `${endpoints.list.path}?${name}=${value}`, headers: [token, json] },
      })),
    ),
    ...["\xFF\xFE", "x".repeat(6_000), "a, b", "' OR 1=1 --", "null", "../..", "e30.e30.", "%00"].map(
      (value) => ({
        name: `GET ${endpoints.list.path} with the token ${named(value)}`,
        request: {
          method: "GET",
          path: endpoints.list.path,
          headers: [["x-service-access-token", value] as const, json],
        },
      }),
    ),
    ...elsewhere,
  ];
};

/** Other methods and paths, and request lines that no HTTP client writes. */
const elsewhere: readonly Malformed[] = [
  ...Object.values(endpoints).flatMap(({ path }) =>
    ["DELETE", "PATCH", "PUT", "OPTIONS", "TRACE", "HEAD"].map((method) => ({
      name: `${method} ${path}`,
      request: { method, path, headers: [json] },
      fitting: [501],
    })),
  ),
  { name: "an unknown method", request: { method: "BREW", path: endpoints.authorize.path }, fitting: [501] },
  ...[
    "/",
    "//",
    "/open-api",
    "/open-api/v1/notifications/..%2f..%2f",
    "/%",
    "/%00",
    "/open-api/v2/notifications",
  ].map((path) => ({ name: `GET ${path}`, request: { method: "GET", path } })),
  ...[" ", "\t", "\0", "\x01", "\x7F"].map((character) => ({
    name: `GET ${endpoints.authorize.path} with a raw character ${character.charCodeAt(0)}`,
    request: { method: "GET", path: `${endpoints.authorize.path}?state=a${character}b`, headers: [json] },
  })),
  {
    name: "a header that is none",
    request: { method: "GET", path: endpoints.list.path, headers: [["x y", "\x01"] as const] },
  },
];
