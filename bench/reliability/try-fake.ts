import { startFakeServer } from "../../fake-server/index.ts";
import { tryServer } from "./try-server.ts";
import type { Tried } from "./tried.ts";

const paths = [
  "/open-api/oauth/authorize?clientId=client-1&state=abc&redirectUri=https%3A%2F%2Fx.example%2F",
  "/open-api/oauth/access-token",
  "/open-api/oauth/refresh-token",
  "/open-api/v1/notifications?limit=5",
];
const controlPaths = ["/clock", "/clock/advance", "/events", "/callback", "/counters", "/nowhere"];

/** Sends the fake hostile requests on both of its ports, and checks that the flow still works. */
export const tryFake = async (count: number, seed: number): Promise<Tried> => {
  await using ending = new AsyncDisposableStack();
  const fake = await startFakeServer({});
  ending.defer(fake.stop);
  const [{ id: clientId, secret: clientSecret, redirectUri } = { id: "", secret: "", redirectUri: "" }] =
    fake.clients;
  const headers = { "content-type": "application/json" };
  const flow = async (): Promise<string | undefined> => {
    const query = new URLSearchParams({ clientId, state: "abc", redirectUri });
    const authorized = await fetch(`${fake.baseUrl}/open-api/oauth/authorize?${query}`, { headers });
    const { code } = (await authorized.json()) as { code?: unknown };
    const exchanged = await fetch(`${fake.baseUrl}/open-api/oauth/access-token`, {
      method: "POST",
      headers,
      body: JSON.stringify({ clientId, clientSecret, code }),
    });
    const tokens = (await exchanged.json()) as { accessToken?: unknown };
    if (typeof tokens.accessToken !== "string") return `the exchange answers with ${exchanged.status}`;
    const clock = await fetch(`${fake.controlUrl}/clock`);
    return clock.ok ? undefined : `the control port answers with ${clock.status}`;
  };
  return await tryServer(
    { name: "the fake", url: fake.baseUrl, paths },
    { name: "its control port", url: fake.controlUrl, paths: controlPaths },
    flow,
    { count, seed },
  );
};
