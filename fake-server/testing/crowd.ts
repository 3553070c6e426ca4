import http from "node:http";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import { CONNECTIONS, type TestService } from "./flow.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Answered {
  readonly status: number;
  readonly fields: Fields;
}

/** Many concurrent requests to one service, over kept connections if it listens. */
export interface Crowd {
  readonly authorize: (state: string) => Promise<Fields>;
  readonly exchange: (code: unknown, secret?: string) => Promise<Fields>;
  readonly refresh: (refreshToken: unknown) => Promise<Fields>;
  readonly list: (accessToken: unknown, query?: string) => Promise<Answered>;
  readonly event: (accountId: string) => Promise<string>;
  /** Rules seen broken. */
  readonly broken: Set<RequirementId>;
  /** Records a broken rule unless the condition holds. */
  readonly expect: (rule: RequirementId, holds: boolean) => void;
  readonly [Symbol.dispose]: () => void;
}

const OVERLOADED = 503;

export const crowdAt = (service: TestService): Crowd => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const { id, secret, redirectUri } = service.client;
  const broken = new Set<RequirementId>();
  const sendOnce = async (
    url: string,
    method: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Answered> => {
    const { status, text } = await service.send(url, {
      agent,
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status, fields: JSON.parse(text) as Fields };
  };
  /** An overloaded service did nothing, so a retry is not a second request. */
  const send: typeof sendOnce = async (...request) => {
    const answered = await sendOnce(...request);
    return answered.status === OVERLOADED ? send(...request) : answered;
  };
  const oauth = `${service.baseUrl}/open-api/oauth`;
  const callback = encodeURIComponent(redirectUri);
  return {
    broken,
    expect: (rule, holds) => {
      if (!holds) broken.add(rule);
    },
    authorize: async (state) =>
      (await send(`${oauth}/authorize?clientId=${id}&state=${state}&redirectUri=${callback}`, "GET", {}))
        .fields,
    exchange: async (code, clientSecret = secret) =>
      (await send(`${oauth}/access-token`, "POST", {}, { clientId: id, clientSecret, code })).fields,
    refresh: async (refreshToken) =>
      (await send(`${oauth}/refresh-token`, "POST", {}, { clientId: id, refreshToken })).fields,
    list: (accessToken, query = "") =>
      send(`${service.baseUrl}/open-api/v1/notifications${query}`, "GET", {
        "x-service-access-token": String(accessToken),
      }),
    event: async (accountId) =>
      String((await send(`${service.controlUrl}/events`, "POST", {}, { accountId })).fields["id"]),
    [Symbol.dispose]: () => agent.destroy(),
  };
};

/** Repeats a task, concurrently up to the number of connections. */
export const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
