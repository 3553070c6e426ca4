import type { FetchedProfile, InProcessHooks } from "../conformance/contract/profile-fetched.ts";
import type { FakeServer } from "./start.ts";

export const secretVariable = (index: number): string => `TOUCHSTONE_FAKE_SECRET_${index + 1}`;

/** The profile for judging a running fake, only over its sockets and its control interface. */
export const profileOf = (server: FakeServer): FetchedProfile => ({
  name: `embedded fake (${server.behaviour})`,
  baseUrl: server.baseUrl,
  clients: server.clients.slice(0, 2).map(({ id, redirectUri }, index) => ({
    id,
    secret: { env: secretVariable(index) },
    redirectUri,
  })),
  hooks: {
    clock: {
      now: { http: { url: `${server.controlUrl}/clock` }, result: "/now" },
      advance: { http: { url: `${server.controlUrl}/clock/advance`, body: { ms: "{{ms}}" } } },
    },
    events: {
      trigger: {
        http: {
          url: `${server.controlUrl}/events`,
          body: { accountId: "{{accountId}}", clientId: "{{clientId}}" },
        },
        result: "/id",
      },
    },
    callback: {
      register: {
        http: { method: "PUT", url: `${server.controlUrl}/callback`, body: { url: "{{url}}", ca: "{{ca}}" } },
      },
    },
  },
});

/** The secrets that the profile refers to, by variable name. */
export const secretsOf = (server: FakeServer): Record<string, string> =>
  Object.fromEntries(server.clients.slice(0, 2).map(({ secret }, index) => [secretVariable(index), secret]));

/** The profile's hooks for a fake in this process, which needs no request for them. */
export const inProcessHooksOf = ({ operations }: FakeServer): InProcessHooks => ({
  "clock.now": operations.clock,
  "clock.advance": ({ ms }) => operations.advance({ ms }),
  "events.trigger": ({ accountId, clientId }) => operations.raise({ accountId, clientId }),
  "callback.register": ({ url, ca }) => operations.register({ url, ca }),
});
