import { accessTokenHeader, endpoints } from "../contract/forms.ts";
import { fitsHeader } from "../judging/laws/tokens.ts";
import { obtainCode, type IssuedTokens } from "../world/steps.ts";
import type { Request } from "../world/exchange.ts";
import { jsonHeader, type ListRequest } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";
import { isSameCredential, plainMisses } from "./credentials.ts";

type Headers = Request["headers"];
type Query = NonNullable<ListRequest["query"]>;

/**
 * A way of requesting without a valid token: the headers, or undefined if they would be the right ones, and what is
 * added to the query.
 */
export interface Intrusion {
  readonly name: string;
  readonly headers: (
    tokens: IssuedTokens,
    world: World,
  ) => Headers | undefined | Promise<Headers | undefined>;
  readonly query?: (tokens: IssuedTokens) => Query;
  /** Another way in than GET at the documented path; {id} in it is replaced by the id of a notification. */
  readonly at?: { readonly method: string; readonly path: string };
}

/** The value in place of a token; undefined if no header can hold it. */
const header = (value: string): Headers | undefined =>
  fitsHeader(value) ? [[accessTokenHeader, value], jsonHeader] : undefined;

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");

export const withoutToken: readonly Intrusion[] = [
  { name: "no token", headers: () => [jsonHeader] },
  { name: "an empty token", headers: () => header("") },
  {
    name: "an invented token",
    headers: (tokens, world) => header(invented(tokens.accessToken.length, world)),
  },
];

/** A value of this length that was never issued, nor is the id of a client of the run. */
export const invented = (length: number, world: World): string => {
  const ids = clientsOf(world).map(({ id }) => id);
  for (;;) {
    // Backwards, because unique strings begin alike.
    const value = Array.from(world.target.unique())
      .toReversed()
      .join("")
      .repeat(Math.ceil(length / 8))
      .slice(0, length);
    if (!ids.includes(value)) return value;
  }
};

const otherHeader = (name: string, value: (token: string) => string = (token) => token): Intrusion => ({
  name: `the right token in ${name}`,
  headers: ({ accessToken }) => [[name, value(accessToken)], jsonHeader],
});

const inQuery = (name: string): Intrusion => ({
  name: `the right token as the query parameter ${name}`,
  headers: () => [jsonHeader],
  query: ({ accessToken }) => ({ [name]: accessToken }),
});

/**
 * The right token where the document does not put it (section 5.2 names one header). Not with underscores instead of
 * dashes: behind a CGI-like interface both are the same name (RFC 3875, section 4.1.18).
 */
export const elsewhere: readonly Intrusion[] = [
  otherHeader("Authorization", (token) => `Bearer ${token}`),
  otherHeader("Authorization"),
  otherHeader("Authorization", (token) => `Basic ${base64(`:${token}`)}`),
  otherHeader("x-access-token"),
  otherHeader("access-token"),
  otherHeader("x-service-token"),
  otherHeader("x-auth-token"),
  otherHeader("x-api-key"),
  otherHeader("Cookie", (token) => `${accessTokenHeader}=${token}`),
  otherHeader("Cookie", (token) => `accessToken=${token}; access_token=${token}; token=${token}`),
  inQuery(accessTokenHeader),
  inQuery("access_token"),
  inQuery("accessToken"),
  inQuery("token"),
];

const way = (method: string, path: string): Intrusion => ({
  name: `no token, ${method} ${path}`,
  headers: () => [jsonHeader],
  at: { method, path },
});

/**
 * No token, at addresses that a router may map to the same list although a token check by address does not know them.
 * What is there is not shown, but nothing may be returned without a token (section 1).
 */
export const byOtherWays: readonly Intrusion[] = [
  way("POST", endpoints.list.path),
  way("PUT", endpoints.list.path),
  way("OPTIONS", endpoints.list.path),
  ...[
    `${endpoints.list.path}/`,
    `${endpoints.list.path}//`,
    `/${endpoints.list.path}`,
    endpoints.list.path.replace("/v1/", "//v1/"),
    endpoints.list.path.replace("/v1/", "/./v1/"),
    endpoints.list.path.replace("/v1/", "/v1/x/../"),
    endpoints.list.path.replace(/s$/, "%73"),
    endpoints.list.path.replace("/v1/", "%2Fv1/"),
    `${endpoints.list.path}/{id}`,
    `${endpoints.list.path}/search`,
    `${endpoints.list.path}/export`,
    `${endpoints.list.path};x`,
    `${endpoints.list.path}.json`,
    `${endpoints.list.path}%00`,
    endpoints.list.path.toUpperCase(),
    endpoints.list.path.replace("/v1/", "/V1/"),
    endpoints.list.path.replace("/v1/", "/"),
    endpoints.list.path.replace("/v1/", "/v0/"),
    endpoints.list.path.replace("/v1/", "/v2/"),
    endpoints.list.path.replace("/open-api/", "/"),
  ].map((path) => way("GET", path)),
];

const inPlace = (
  name: string,
  value: (tokens: IssuedTokens, world: World) => string | Promise<string>,
): Intrusion => ({
  name,
  headers: async (tokens, world) => header(await value(tokens, world)),
});

export const otherCredentials: readonly Intrusion[] = [
  inPlace("the refreshToken", ({ refreshToken }) => refreshToken),
  inPlace("the used code", ({ code }) => code),
  inPlace("a fresh code", async ({ client }, world) => (await obtainCode(world, { client })).code),
];

/** Other things that a client holds, and values that a careless check accepts. */
export const inItsPlace: readonly Intrusion[] = [
  ...otherCredentials,
  inPlace("the clientId", ({ client }) => client.id),
  inPlace("the client's secret", ({ client }) => client.secret),
  inPlace("the clientId and the secret", ({ client }) => base64(`${client.id}:${client.secret}`)),
  ...[
    "0",
    "1",
    "true",
    "false",
    "none",
    "*",
    "Bearer",
    "[object Object]",
    "{}",
    "[]",
    "é",
    "../../etc/passwd",
  ].map((value) => inPlace(`the value ${value}`, () => value)),
  inPlace("four thousand characters", () => "a".repeat(4_000)),
  inPlace("an unsigned JWT", ({ client }) =>
    unsigned({ sub: client.id, client_id: client.id, exp: 9_999_999_999 }),
  ),
  inPlace(
    "the token without its signature",
    ({ accessToken }) => `${accessToken.split(".").slice(0, 2).join(".")}.`,
  ),
  inPlace(
    "the token's claims, unsigned",
    ({ accessToken }) => `${base64url('{"alg":"none","typ":"JWT"}')}.${accessToken.split(".")[1] ?? ""}.`,
  ),
];

const unsigned = (claims: object): string =>
  `${base64url('{"alg":"none","typ":"JWT"}')}.${base64url(JSON.stringify(claims))}.`;

/** The token, altered. A header cannot carry white space at its ends (RFC 9110 section 5.5), so none is put there. */
const alteration = (name: string, alter: (token: string) => string): Intrusion => ({
  name,
  headers: ({ accessToken }, { secrets }) => {
    const value = secrets.derive(accessToken, alter(accessToken), name.replace("the token: ", ""));
    return isSameCredential(accessToken, value.trim()) ? undefined : header(value);
  },
});

export const nearly: readonly Intrusion[] = [
  ...plainMisses.map(({ name, alter }) => alteration(`the token: ${name}`, (token) => String(alter(token)))),
  alteration("a space inside the token", (token) => `${token.slice(0, 5)} ${token.slice(5)}`),
  alteration("a tab inside the token", (token) => `${token.slice(0, 5)}\t${token.slice(5)}`),
  alteration("the token twice, as a list", (token) => `${token}, ${token}`),
  alteration("the token after another one in a list", (token) => `x, ${token}`),
];
