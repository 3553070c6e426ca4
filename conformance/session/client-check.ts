import { mistaken, skipped, type Check } from "../contract/check.ts";
import { credentialsOf, grantOf, TransportError, type Answer, describeBriefly } from "../world/exchange.ts";
import { beginAnew } from "../world/http/retry.ts";
import { exchangeBody, gaveData } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { unreachable } from "./reach-check.ts";

interface ClientCheck {
  readonly check: Check;
  /** Validity of the client's access token, in milliseconds. */
  readonly lifetimeMs?: number;
}

/** Runs the flow for each client of the profile. */
export const checkClients = async (
  world: World,
  clients: readonly Client[],
): Promise<{ readonly checks: readonly Check[]; readonly accessLifetimeMs: number }> => {
  const checked: ClientCheck[] = [];
  for (const [index, client] of clients.entries())
    checked.push(
      await beginAnew(() => checkClient(world, client, index)).catch((error: unknown) => {
        if (!(error instanceof TransportError)) throw error;
        const message = `the flow of client "${client.id}" failed: ${unreachable[error.reason]} (${error.message})`;
        return { check: failedFlow(index, message) };
      }),
    );
  const checks = checked.map(({ check }) => check);
  return {
    checks: clients.length === 1 ? [...checks, noSecondClient] : checks,
    accessLifetimeMs: checked[0]?.lifetimeMs ?? 0,
  };
};

const noSecondClient = skipped(
  "clients[1]",
  "no second client: rules that compare two clients will not run",
  "add a second entry to `clients`",
);

/** Runs the flow for one client. If it fails, compares the answer with those to a wrong client. */
const checkClient = async (world: World, client: Client, index: number): Promise<ClientCheck> => {
  const authorized = await world.target.authorize({ client });
  const grant = grantOf(authorized);
  if (grant === undefined) return { check: await authorizeFailed(world, client, index, authorized) };
  const answer = await world.target.exchange(exchangeBody(client, grant.code));
  const { accessToken, expiresIn } = credentialsOf(answer);
  if (accessToken === undefined) return { check: await exchangeFailed(world, client, index, answer) };
  const listed = await world.target.list({ accessToken });
  return {
    check: {
      check: `clients[${index}]`,
      ok: gaveData(listed),
      message: gaveData(listed)
        ? `authorize, access-token and notifications work for client "${client.id}"`
        : `the accessToken opens no notification list: ${describeBriefly(listed)}`,
    },
    ...(Number(expiresIn) > 0 ? { lifetimeMs: Number(expiresIn) * 1_000 } : {}),
  };
};

/** A failed flow; with a remedy, the profile is at fault. */
const failedFlow = (index: number, message: string, remedy?: string): Check =>
  remedy === undefined
    ? { check: `clients[${index}]`, ok: false, message }
    : mistaken(`clients[${index}]`, message, remedy);

const authorizeFailed = async (
  world: World,
  client: Client,
  index: number,
  authorized: Answer,
): Promise<Check> => {
  const stranger = await world.target.authorize({
    client: { ...client, id: `${world.target.unique()}${world.target.unique()}` },
  });
  const said = describeBriefly(authorized);
  if (await isUnserved(world, authorized))
    return failedFlow(index, `authorize is not served at its documented path: ${said}`);
  return alike(authorized, stranger)
    ? failedFlow(
        index,
        `authorize treats client "${client.id}" like one that does not exist: ${said}`,
        `check ${authorized.status === 404 ? "baseUrl, " : ""}clients[${index}].id and clients[${index}].redirectUri; if a consent page is in the way, use \`authorize\``,
      )
    : failedFlow(index, `authorize gave no code: ${said}`);
};

const exchangeFailed = async (
  world: World,
  client: Client,
  index: number,
  answer: Answer,
): Promise<Check> => {
  const again = grantOf(await world.target.authorize({ client }));
  const wrong = await world.target.exchange({
    ...exchangeBody(client, again?.code ?? ""),
    clientSecret: `${world.target.unique()}${world.target.unique()}`,
  });
  const said = describeBriefly(answer);
  return alike(answer, wrong)
    ? failedFlow(
        index,
        `the exchange treats the secret of client "${client.id}" like a wrong one: ${said}`,
        `check where clients[${index}].secret points to, and clients[${index}].id`,
      )
    : failedFlow(index, `a valid exchange returned no accessToken: ${said}`);
};

/** Whether the service does not know the authorize path, like an invented one, although it serves the list. */
const isUnserved = async (world: World, authorized: Answer): Promise<boolean> => {
  if (authorized.status !== 404) return false;
  const invented = await world.target.send({
    method: "GET",
    path: `/open-api/${world.target.unique()}`,
    headers: [],
  });
  const listed = await world.target.list({});
  return invented.status === 404 && listed.status !== 404;
};

/** Whether two refusals differ only in numbers and times. A service that fails has refused neither. */
const alike = (a: Answer, b: Answer): boolean =>
  a.status < 500 && a.status === b.status && skeleton(a.text) === skeleton(b.text);
const skeleton = (text: string): string => text.replaceAll(/[A-Za-z0-9_.:-]*\d[A-Za-z0-9_.:-]*/g, "#");
