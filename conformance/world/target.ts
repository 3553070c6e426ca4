import { accessTokenHeader, endpoints, type Endpoint } from "../contract/forms.ts";
import { isHangUp, type Answer, type Request } from "./exchange.ts";
import type { Connection, Sender, Transport } from "./http/transport.ts";

/** One OAuth client of the service. */
export interface Client {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

export interface AuthorizeRequest {
  readonly client?: Client;
  /** Generated if absent. */
  readonly state?: string | undefined;
  readonly redirectUri?: string;
  /** Replaces the whole query after the question mark, byte for byte. */
  readonly rawQuery?: string;
  readonly headers?: Request["headers"];
}

export interface ListRequest {
  readonly accessToken?: string;
  /** Values are percent-encoded; pass an array to repeat a key. */
  readonly query?: Readonly<Record<string, string | number | readonly (string | number)[]>>;
  readonly rawQuery?: string;
  /** Replaces all headers, including token and content type. */
  readonly headers?: Request["headers"];
}

/** The documented calls of the service (section 4), each sent as given, even if it makes no sense. */
export interface Target extends Readonly<Record<Endpoint, (request: never) => Promise<Answer>>> {
  /** The path of the base address, which precedes that of every request. */
  readonly basePath: string;
  /** A string of letters and digits that no other call in this run returns: a state, or an invented credential. */
  unique(): string;
  /** GET /open-api/oauth/authorize (section 4.1). */
  authorize(request?: AuthorizeRequest): Promise<Answer>;
  /** POST /open-api/oauth/access-token (section 4.2); the body is sent as JSON. */
  exchange(body: unknown): Promise<Answer>;
  /** POST /open-api/oauth/refresh-token (section 4.3); the body is sent as JSON. */
  refresh(body: unknown): Promise<Answer>;
  /** GET /open-api/v1/notifications (section 4.4). */
  list(request: ListRequest): Promise<Answer>;
  /** Any request below the base address; `path` starts with a slash and is sent byte for byte. */
  send(request: Request): Promise<Answer>;
  /** The same calls on a dedicated connection, which also sends paths that no HTTP client writes; close it when done. */
  dedicated(): Target & { close(): Promise<void> };
  /** The same calls as common clients make them: they accept compressed answers, and send cookies back. */
  usual(): Target;
  /** Whether the service has set cookies in this case. */
  hasCookies(): boolean;
}

export interface AuthorizeAsked {
  readonly clientId: string;
  readonly state: string;
  readonly redirectUri: string;
}

export interface TargetOptions {
  /** Path of the base address without a trailing slash; empty if the service is at the root. */
  readonly basePath: string;
  readonly client: Client;
  readonly headers: Request["headers"];
  /** Additional headers and query parameters for authorize only, to get past consent. */
  readonly authorize: { readonly headers: Request["headers"]; readonly query: string };
  readonly unique: () => string;
  /** Gets a code if authorize is behind a consent that only the profile's hook can pass. */
  readonly grantCode?: ((asked: AuthorizeAsked) => Promise<Answer>) | undefined;
}

export const jsonHeader = ["content-type", "application/json"] as const;

/** Query string of the given parameters, each percent-encoded (RFC 3986 section 2.1). */
export const encodeQuery = (query: NonNullable<ListRequest["query"]>): string =>
  Object.entries(query)
    .flatMap(([name, value]) =>
      Array.isArray(value)
        ? value.map((one: string | number) => encodeParameter(name, one))
        : encodeParameter(name, value as string | number),
    )
    .join("&");

/** An id from a service may contain half a surrogate pair, which cannot be encoded. */
const encodeParameter = (name: string, value: string | number): string =>
  `${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`;

export const createTarget = (
  transport: Transport,
  sender: Sender,
  options: TargetOptions,
  isUsual = false,
): Target => ({
  ...callsOver(transport, sender, options, isUsual),
  dedicated: () => {
    const connection = transport.dedicated();
    return {
      ...callsOver(connection, sender, options, isUsual),
      close: () => connection.close(),
      dedicated: () => {
        throw new Error("a dedicated connection cannot open another; ask the target itself");
      },
      usual: () => {
        throw new Error("a dedicated connection stays as it is; ask the target itself");
      },
    };
  },
  usual: () => createTarget(transport, sender, options, true),
});

/** The codings that common clients accept. */
const acceptsCodings = ["accept-encoding", "gzip, deflate"] as const;

const callsOver = (
  connection: Connection,
  sender: Sender,
  options: TargetOptions,
  isUsual: boolean,
): Omit<Target, "dedicated" | "usual"> => {
  const { cookies } = sender.scope;
  const send = async (asked: Request): Promise<Answer> => {
    const path = `${options.basePath}${asked.path}`;
    const headers = [...options.headers, ...asked.headers];
    const sent = isUsual ? [...cookies.added({ path, headers }), acceptsCodings] : headers;
    const answer = await connection.send({ ...asked, path, headers: sent }, sender);
    cookies.keep({ path }, answer);
    return answer;
  };
  const post = (path: string, body: unknown): Promise<Answer> =>
    send({ method: "POST", path, headers: [jsonHeader], body: JSON.stringify(body) });
  return {
    basePath: options.basePath,
    unique: options.unique,
    hasCookies: cookies.areSet,
    send,
    authorize: (request = {}) => {
      const client = request.client ?? options.client;
      const asked = {
        clientId: client.id,
        state: request.state ?? options.unique(),
        redirectUri: request.redirectUri ?? client.redirectUri,
      };
      const { rawQuery, headers } = request;
      if (options.grantCode !== undefined && rawQuery === undefined && headers === undefined)
        return options.grantCode(asked);
      const query = rawQuery ?? encodeQuery(asked);
      return send({
        method: "GET",
        path: withQuery(
          endpoints.authorize.path,
          [query, options.authorize.query].filter((part) => part !== "").join("&"),
        ),
        headers: headers ?? [jsonHeader, ...options.authorize.headers],
      });
    },
    exchange: (body) => post(endpoints.exchange.path, body),
    refresh: (body) => post(endpoints.refresh.path, body),
    list: (request) =>
      send({
        method: "GET",
        path: withQuery(endpoints.list.path, request.rawQuery ?? encodeQuery(request.query ?? {})),
        headers:
          request.headers ??
          (request.accessToken === undefined
            ? [jsonHeader]
            : [[accessTokenHeader, request.accessToken], jsonHeader]),
      }),
  };
};

export const withQuery = (path: string, query: string): string => (query === "" ? path : `${path}?${query}`);

/** The answer; undefined if the connection was closed without one, which yields nothing. */
export const answerOrHangUp = async (request: Promise<Answer>): Promise<Answer | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (isHangUp(error)) return undefined;
    throw error;
  }
};
