import { accessTokenHeader, endpoints } from "../contract/forms.ts";
import { jsonHeader } from "../world/target.ts";
import type { Request } from "../world/exchange.ts";

/** A request that no honest client would send, but that every service must still answer. */
export interface Malformed {
  readonly name: string;
  readonly request: Request;
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

/** JSON texts for a field that should be a string; first those that are none. */
const oddValues = [
  ...`null -1 1e400 true [] {} {"$gt":""} "__proto__" "../../../etc/passwd" "%00%zz"`.split(" "),
  '"\\u0000"',
  '"\\ud800"',
  `"' OR 1=1 --"`,
  `"${"x".repeat(20_000)}"`,
  '"ß😀"',
];

/** Whole bodies that hold no request. */
const oddBodies = {
  "an empty body": "",
  "half a JSON text": '{"clientId":"a',
  "no JSON at all": "clientId=a&code=b",
  "NUL bytes": "\0\0\0\0",
  "a JSON array": "[]",
  "a JSON null": "null",
  "a JSON number": "1e999",
  "a repeated key": '{"clientId":"a","clientId":{"clientId":"b"}}',
  "an object with __proto__": '{"__proto__":{"clientId":"a"},"constructor":{"prototype":{}}}',
  "deep nesting": `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
  "deep nesting of objects": `${'{"clientId":'.repeat(2_000)}1${"}".repeat(2_000)}`,
  "a byte order mark": '\uFEFF{"clientId":"a"}',
};

const oddContentTypes = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=utf-99",
] as const;

const oddQueries = [
  ..."%zz %00 %C0%80 %FF a[b][c]=1 __proto__[x]=1".split(" "),
  "x".repeat(7_000),
  "a=1&".repeat(500),
];

/** Whole numbers that 63 or 64 bits do not hold, or not once they are multiplied by a page size, follow one another. */
const oddNumbers = [
  ..."-1 1.5 1e309 abc 0x10 %00".split(" "),
  ...[62n, 63n, 64n].map((bits) => String(2n ** bits)),
  "9".repeat(20),
];

const get = (path: string, token?: string): Request => ({
  method: "GET",
  path,
  headers: token === undefined ? [jsonHeader] : [[accessTokenHeader, token], jsonHeader],
});

const post = (path: string, body: string, type = "application/json"): Request => ({
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
    ...["x".repeat(6_000), "a, b", "' OR 1=1 --", "e30.e30."].map((value) => ({
      name: `GET ${list.path} with the token ${named(value)}`,
      request: get(list.path, value),
    })),
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

/** Other methods and paths. */
const elsewhere: readonly Malformed[] = [
  ...Object.values(endpoints).flatMap(({ path }) =>
    ["DELETE", "OPTIONS", "HEAD", "BREW"].map((method) => ({
      name: `${method} ${path}`,
      request: { method, path, headers: [jsonHeader] },
      fitting: [501],
    })),
  ),
  ..."/ /%00 /open-api/v1/notifications/..%2f..%2f /open-api/v2/notifications".split(" ").map((path) => ({
    name: `GET ${path}`,
    request: { method: "GET", path, headers: [] },
  })),
];
