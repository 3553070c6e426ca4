import { type FakeServer, startFakeServer, type StartOptions } from "../index.ts";
import type { FakeClient } from "../clients.ts";

/** An answer, its body read as JSON where it is JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The fields of a JSON object; none for anything else. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A service with the calls of section 4, for tests. */
export type TestService = FakeServer & {
  readonly client: FakeClient;
  readonly other: FakeClient;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Reply>;
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Reply>;
  readonly authorize: (changes?: Record<string, string>) => Promise<Reply>;
  readonly code: (client?: FakeClient) => Promise<string>;
  readonly exchange: (code: unknown, changes?: Record<string, unknown>) => Promise<Reply>;
  readonly refresh: (refreshToken: unknown, changes?: Record<string, unknown>) => Promise<Reply>;
  readonly list: (accessToken: string, query?: string) => Promise<Reply>;
  readonly advance: (ms: number) => Promise<Reply>;
  readonly event: (fields: Record<string, unknown>) => Promise<string>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export const ACCOUNT = "6f2c8a30-1d4e-4b7a-9c55-0e8f1a2b3c4d";
const JSON_TYPE = { "content-type": "application/json" };

const read = async (response: Response): Promise<Reply> => {
  const text = await response.text();
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    fields = {};
  }
  const { status, headers } = response;
  return { status, headers, text, fields: (fields ?? {}) as Reply["fields"] };
};

const get: TestService["get"] = async (url, headers = {}) =>
  read(await fetch(url, { redirect: "manual", headers: { ...JSON_TYPE, ...headers } }));

const post: TestService["post"] = async (url, body, headers = {}) =>
  read(
    await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { ...JSON_TYPE, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );

const codeOf = ({ searchParams, hash }: URL): string | null =>
  searchParams.get("code") ?? new URLSearchParams(hash.slice(1)).get("code");

/** The code of an authorize answer, from its JSON or from its Location; empty without one. */
export const codeIn = (reply: Reply): string => {
  const location = reply.headers.get("location");
  const code = location === null ? reply.fields["code"] : codeOf(new URL(location));
  return typeof code === "string" ? code : "";
};

export const startTestService = async (options: StartOptions = {}): Promise<TestService> => {
  const server = await startFakeServer(options);
  const [client, other] = server.clients;
  if (client === undefined || other === undefined) throw new Error("two clients are needed");
  const at = (path: string): string => server.baseUrl + path;
  const authorize: TestService["authorize"] = (changes = {}) => {
    const asked = { clientId: client.id, state: "state1", redirectUri: client.redirectUri, ...changes };
    return get(at(`/open-api/oauth/authorize?${new URLSearchParams(asked).toString()}`));
  };
  return {
    ...server,
    client,
    other,
    get: (path, headers) => get(at(path), headers),
    post: (path, body, headers) => post(at(path), body, headers),
    authorize,
    code: async ({ id, redirectUri } = client) => codeIn(await authorize({ clientId: id, redirectUri })),
    exchange: (code, changes = {}) =>
      post(at("/open-api/oauth/access-token"), {
        clientId: client.id,
        clientSecret: client.secret,
        code,
        ...changes,
      }),
    refresh: (refreshToken, changes = {}) =>
      post(at("/open-api/oauth/refresh-token"), { clientId: client.id, refreshToken, ...changes }),
    list: (accessToken, query = "") =>
      get(at(`/open-api/v1/notifications${query}`), { "x-service-access-token": accessToken }),
    advance: (ms) => post(`${server.controlUrl}/clock/advance`, { ms }),
    event: async (fields) => {
      const created = await post(`${server.controlUrl}/events`, { accountId: ACCOUNT, ...fields });
      return String(created.fields["id"]);
    },
    [Symbol.asyncDispose]: server.stop,
  };
};

/** Exchanges a fresh code and gives the tokens. */
export const tokensOf = async (
  service: TestService,
): Promise<{ readonly accessToken: string; readonly refreshToken: string; readonly expiresIn: number }> => {
  const { fields } = await service.exchange(await service.code());
  return fields as { accessToken: string; refreshToken: string; expiresIn: number };
};
