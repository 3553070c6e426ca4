import { accessTokenHeader, endpoints } from "../contract/forms.ts";
import { jsonHeader } from "../world/target.ts";
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
const oddBodies = {
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
  ..."text/plain application/x-www-form-urlencoded multipart/form-data application/xml".split(" "),
  "application/json; charset=utf-99",
  "application/json;;;",
  "application/json, text/html",
  "a",
  "/",
];

/** Text after the question mark, one byte per character. */
const oddQueries = [
  ..."% %zz %00 %FF %C0%80 &&&==& = ? a[b][c]=1 __proto__[x]=1".split(" "),
  "x".repeat(7_000),
  "a=1&".repeat(500),
  "\xFF\xFE",
  "\xC3\xA9=\xC3\xA9",
];

/** Whole numbers that 63 or 64 bits do not hold, or not once they are multiplied by a page size. */
const hugeNumbers = [
  ...[62n, 63n, 64n].map((bits) => String(2n ** bits)),
  ...[63n, 64n].map((bits) => String(2n ** bits - 1n)),
  "9".repeat(20),
];

const oddNumbers = [
  ..."-1 0 1.5 1e309 9007199254740993 abc".split(" "),
  "",
  ..."NaN %00 1' 0x10".split(" "),
  ...hugeNumbers,
];

const get = (path: string, token?: string): RawRequest => ({
  method: "GET",
  path,
  headers: token === undefined ? [jsonHeader] : [[accessTokenHeader, token], jsonHeader],
});

const post = (path: string, body: string, type = "application/json"): RawRequest => ({
  method: "POST",
  path,
  headers: [["content-type", type]],
  body,
});

const malformedQueries = (path: string, rest: string, token?: string): Malformed[] =>
  oddQueries.map((query) => ({
    name: `GET ${path} with the query ${named(query)}`,
    request: get(`${path}?${rest}${query}`, token),
  }));

const malformedPosts = (path: string, right: Readonly<Record<string, string>>): Malformed[] => [
  ...Object.entries(oddBodies).map(([name, body]) => ({
    name: `POST ${path} with ${name}`,
    request: post(path, body),
  })),
  ...Object.keys(right).flatMap((field) =>
    oddValues.map((value) => ({
      name: `POST ${path} with ${field} ${named(value)}`,
      request: post(path, bodyWith(right, field, value)),
    })),
  ),
  ...oddContentTypes.map((type) => ({
    name: `POST ${path} as ${type}`,
    request: post(path, JSON.stringify(right), type),
  })),
];

const bodyWith = (right: Readonly<Record<string, string>>, field: string, json: string): string =>
  `{${Object.entries(right)
    .map(([name, value]) => `"${name}":${name === field ? json : JSON.stringify(value)}`)
    .join(",")}}`;

const named = (text: string): string => (text.length > 40 ? `${text.slice(0, 20)}… (${text.length})` : text);

/** A right authorize query, up to the value of its state. */
const beforeState = ({ clientId, redirectUri }: Pick<Right, "clientId" | "redirectUri">): string =>
  `clientId=${encodeURIComponent(clientId)}&redirectUri=${encodeURIComponent(redirectUri)}&state=`;

/** Malformed requests to every endpoint. Their codes are used up or unknown, so that none of them can succeed. */
export const malformedRequests = (right: Right): readonly Malformed[] => {
  const { clientId, clientSecret, code, refreshToken, accessToken } = right;
  const client = `clientId=${encodeURIComponent(clientId)}`;
  const { authorize, exchange, refresh, list } = endpoints;
  return [
    ...malformedQueries(authorize.path, ""),
    ...malformedQueries(authorize.path, beforeState(right)),
    ...malformedQueries(authorize.path, `${client}&state=a&redirectUri=`),
    ...malformedPosts(exchange.path, { clientId, clientSecret, code }),
    ...malformedPosts(refresh.path, { clientId, refreshToken }),
    ...malformedQueries(list.path, "", accessToken),
    ...["limit", "page", "id", "accountId"].flatMap((name) =>
      oddNumbers.map((value) => ({
        name: `GET ${list.path} with ${name}=${value}`,
        request: get(`${list.path}?${name}=${value}`, accessToken),
      })),
    ),
    ...["\xFF\xFE", "x".repeat(6_000), "a, b", "' OR 1=1 --", "null", "../..", "e30.e30.", "%00"].map(
      (value) => ({
        name: `GET ${list.path} with the token ${named(value)}`,
        request: get(list.path, value),
      }),
    ),
    ...elsewhere,
  ];
};

/** A few that HTTP clients send as they are, for connections that have carried another request. */
export const malformedSeconds = (
  right: Pick<Right, "clientId" | "redirectUri" | "accessToken">,
): readonly Malformed[] => {
  const { authorize, exchange, list } = endpoints;
  const rest = beforeState(right);
  return [
    ...['a"b', "a<b>", "a\\^`{|}", "%zz"].map((state) => ({
      name: `GET ${authorize.path} with the state ${state}`,
      request: get(`${authorize.path}?${rest}${state}`),
    })),
    {
      name: `GET ${list.path} with limit="`,
      request: get(`${list.path}?limit="`, right.accessToken),
    },
    {
      name: `POST ${exchange.path} with half a JSON text`,
      request: post(exchange.path, oddBodies["half a JSON text"]),
    },
  ];
};

/** Other methods and paths, and request lines that no HTTP client writes. */
const elsewhere: readonly Malformed[] = [
  ...Object.values(endpoints).flatMap(({ path }) =>
    ["DELETE", "PATCH", "PUT", "OPTIONS", "TRACE", "HEAD"].map((method) => ({
      name: `${method} ${path}`,
      request: { method, path, headers: [jsonHeader] },
      fitting: [501],
    })),
  ),
  { name: "an unknown method", request: { method: "BREW", path: endpoints.authorize.path }, fitting: [501] },
  ..."/ // /open-api /open-api/v1/notifications/..%2f..%2f /% /%00 /open-api/v2/notifications"
    .split(" ")
    .map((path) => ({ name: `GET ${path}`, request: { method: "GET", path } })),
  ...[" ", "\t", "\0", "\x01", "\x7F"].map((character) => ({
    name: `GET ${endpoints.authorize.path} with a raw character ${character.charCodeAt(0)}`,
    request: get(`${endpoints.authorize.path}?state=a${character}b`),
  })),
  {
    name: "a header that is none",
    request: { method: "GET", path: endpoints.list.path, headers: [["x y", "\x01"] as const] },
  },
];
