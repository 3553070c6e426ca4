import { type FakeServer, startFakeServer, type StartOptions } from "../index.ts";

interface Asked {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/** Sends a request over HTTP without following redirects. */
const ask = async (url: string, asked: Asked) => {
  const answer = await fetch(url, { redirect: "manual", ...asked });
  return { status: answer.status, text: await answer.text() };
};

/** Calls a control interface; an empty answer is an empty object. */
export const askControl = async (url: string, method = "GET", sent?: unknown) => {
  const { status, text } = await ask(url, {
    method,
    headers: sent === undefined ? {} : { "content-type": "application/json" },
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
  });
  return { status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
};

/** An answer, with its body parsed if it is JSON. */
interface Reply {
  readonly status: number;
  /** The fields of a JSON object; empty for anything else. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A service with the calls of section 4, for tests. */
export type TestService = ReturnType<typeof testServiceOf>;

export const ACCOUNT = "6f2c8a30-1d4e-4b7a-9c55-0e8f1a2b3c4d";
const JSON_TYPE = { "content-type": "application/json" };

const fieldsOf = (text: string): Reply["fields"] => {
  try {
    return (JSON.parse(text) ?? {}) as Reply["fields"];
  } catch {
    return {};
  }
};

const testServiceOf = (server: FakeServer) => {
  const [client] = server.clients;
  if (client === undefined) throw new Error("a client is required");
  const reply = async (url: string, asked: Asked): Promise<Reply> => {
    const { status, text } = await ask(url, { ...asked, headers: { ...JSON_TYPE, ...asked.headers } });
    return { status, fields: fieldsOf(text) };
  };
  const get = (path: string, headers: Record<string, string> = {}) =>
    reply(server.baseUrl + path, { method: "GET", headers });
  const postTo = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    reply(url, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });
  const post = (path: string, body: unknown, headers?: Record<string, string>) =>
    postTo(server.baseUrl + path, body, headers);
  const authorize = (changes: Record<string, string> = {}) => {
    const asked = { clientId: client.id, state: "state1", redirectUri: client.redirectUri, ...changes };
    return get(`/open-api/oauth/authorize?${new URLSearchParams(asked).toString()}`);
  };
  return {
    ...server,
    client,
    get,
    post,
    authorize,
    code: async () => (await authorize()).fields["code"],
    exchange: (code: unknown, changes: Record<string, unknown> = {}) =>
      post("/open-api/oauth/access-token", {
        clientId: client.id,
        clientSecret: client.secret,
        code,
        ...changes,
      }),
    refresh: (refreshToken: unknown, changes: Record<string, unknown> = {}) =>
      post("/open-api/oauth/refresh-token", { clientId: client.id, refreshToken, ...changes }),
    list: (accessToken: string, query = "") =>
      get(`/open-api/v1/notifications${query}`, { "x-service-access-token": accessToken }),
    advance: (ms: number) => postTo(`${server.controlUrl}/clock/advance`, { ms }),
    event: async (fields: Record<string, unknown>) => {
      const created = await postTo(`${server.controlUrl}/events`, { accountId: ACCOUNT, ...fields });
      return String(created.fields["id"]);
    },
    [Symbol.asyncDispose]: server.stop,
  };
};

export const startTestService = async (options: StartOptions = {}): Promise<TestService> =>
  testServiceOf(await startFakeServer(options));

/** Exchanges a fresh code and returns the tokens. */
export const tokensOf = async (
  service: TestService,
): Promise<{ readonly accessToken: string; readonly refreshToken: string; readonly expiresIn: number }> => {
  const { fields } = await service.exchange(await service.code());
  return fields as { accessToken: string; refreshToken: string; expiresIn: number };
};
