import {
  columnNames,
  isSameClientId,
  isSameCredential,
  nearMisses,
  type NearMiss,
} from "../arbitraries/credentials.ts";
import { invented } from "../arbitraries/intrusions.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { counted } from "../contract/text.ts";
import { exchangeBody, obtainCode, obtainTokens, refreshBody, secondClientOf } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import type { Wrong } from "./refusals.ts";

/* Rows for the two endpoints that issue tokens: each replaces a field of a valid body. */

type Field = "clientId" | "clientSecret" | "code" | "refreshToken";
export type Body = Readonly<Record<string, unknown>>;

/** A valid body, and what its client holds beside it. */
export interface Right {
  readonly client: Client;
  readonly body: Readonly<Record<string, string>>;
  readonly code: string;
  readonly state?: unknown;
  readonly accessToken?: string;
}
export type Row = Wrong<Right, Body>;

/** Whether another value means the right one after all. */
const same: Readonly<Record<Field, (right: string, other: unknown, world: World) => boolean>> = {
  // Another client of the run is not unknown.
  clientId: (id, other, { secondClient }) =>
    isSameClientId(id, other) || (secondClient !== undefined && isSameClientId(secondClient.id, other)),
  clientSecret: (secret, other) => secret === other,
  code: isSameCredential,
  refreshToken: isSameCredential,
};

type Value = (right: Right, world: World) => unknown;

const instead = (field: Field, name: string, value: Value): Row => ({
  name,
  of: async (right, world) => {
    const other = await value(right, world);
    return same[field](right.body[field] ?? "", other, world) ? undefined : { ...right.body, [field]: other };
  },
});

export const near =
  (field: Field) =>
  ({ name, alter }: NearMiss): Row =>
    instead(field, `${field}: ${name}`, ({ body }, { secrets }) => {
      const right = body[field] ?? "";
      return secrets.derive(right, alter(right), name);
    });

/** Changes of several fields. */
const changed = (name: string, of: (right: Right, world: World) => Body): Row => ({ name, of });

const secret = (name: string, value: Value): Row => instead("clientSecret", name, value);
const client = (name: string, value: Value): Row => instead("clientId", name, value);
const code = (name: string, value: Value): Row => instead("code", `${name} in place of a code`, value);
const token = (name: string, value: Value): Row => instead("refreshToken", name, value);

const freshCode = async (world: World, client = world.client): Promise<string> =>
  (await obtainCode(world, { client })).code;

/** Values that were issued, but not as a code, and some that were never issued. */
export const noCodes: readonly Row[] = [
  code("a refresh token", async (_, world) => (await obtainTokens(world)).refreshToken),
  code("an access token", async (_, world) => (await obtainTokens(world)).accessToken),
  code("the client's secret", ({ client }) => client.secret),
  code("the client's id", ({ client }) => client.id),
  code("the state of its authorization", ({ state }) => state),
  code("a made-up value", (_, world) => `${world.target.unique()}${world.target.unique()}`),
  code("every character of a code changed", (right) =>
    Array.from(right.code, (character) => (character === "x" ? "y" : "x")).join(""),
  ),
  code("two live codes, joined", async (right, world) => `${right.code},${await freshCode(world)}`),
  code("two live codes in an array", async (right, world) => [right.code, await freshCode(world)]),
  code("no code at all", () => undefined),
];

/** What only a service takes that compares with the secrets of all clients. */
const ofAnotherClient: readonly Row[] = [
  secret("another client's secret", (_, world) => secondClientOf(world).secret),
  changed("another client's id", ({ body }, world) => ({ ...body, clientId: secondClientOf(world).id })),
  secret("both clients' secrets in an array", (right, world) => [
    secondClientOf(world).secret,
    right.client.secret,
  ]),
];

export const wrongSecrets = ({ secondClient }: World): readonly Row[] => [
  ...forBoth([
    secret("no clientSecret", () => undefined),
    secret("a made-up secret", (_, world) => world.target.unique()),
    ...(secondClient === undefined ? [] : ofAnotherClient),
  ]),
  ...[...nearMisses, ...columnNames("clientSecret", "client_secret", "secret")].map(near("clientSecret")),
  secret("the client's id for its secret", (right) => right.client.id),
  secret("the code for the secret", (right) => right.code),
];

/** A wrong secret stays wrong when sent repeatedly. */
export const insistence = Array.from({ length: 8 }, (_, time) =>
  secret(`a wrong secret, sent ${counted(time + 1, "time")}`, ({ client: { secret: right } }, { secrets }) =>
    secrets.derive(right, `${right}wrong`, "with more behind it"),
  ),
);

/** Secrets that an unregistered client may send. */
export const secretsOfStrangers: Readonly<Record<string, unknown>> = {
  "a made-up secret": "made-up",
  "no secret": undefined,
  "an empty secret": "",
  "the secret null": null,
};

/** Fields that plain objects inherit: a lookup finds them, and they have no secret to compare. */
const inheritedNames = ["__proto__", "constructor", "toString", "hasOwnProperty"];

export const wrongClients: readonly Row[] = [
  ...forBoth([
    client("no clientId", () => undefined),
    client("a made-up client", (_, world) => world.target.unique()),
  ]),
  ...nearMisses.map(near("clientId")),
  changed("a made-up client with its id for its secret", ({ body }, world) => {
    const clientId = world.target.unique();
    return { ...body, clientId, clientSecret: clientId };
  }),
  ...Object.entries(secretsOfStrangers).map(([name, clientSecret]) =>
    changed(`a made-up client with ${name}`, ({ body }, world) => ({
      ...body,
      clientId: world.target.unique(),
      clientSecret,
    })),
  ),
  ...[undefined, null, ""].map((nothing) =>
    changed(`client and secret both ${JSON.stringify(nothing) ?? "absent"}`, (right) => ({
      clientId: nothing,
      clientSecret: nothing,
      code: right.code,
    })),
  ),
  ...inheritedNames.map((clientId) =>
    changed(`${clientId} without a secret`, (right) => ({ clientId, code: right.code })),
  ),
];

export const noTokens: readonly Row[] = [
  token("no refreshToken at all", () => undefined),
  token("the accessToken in its place", ({ accessToken }) => accessToken),
  token("the used code in its place", (right) => right.code),
  token("a fresh code in its place", (right, world) => freshCode(world, right.client)),
  token("the clientId in its place", (right) => right.client.id),
  token("the client's secret in its place", (right) => right.client.secret),
  token("an invented value of the same length", ({ body }, world) =>
    invented(body["refreshToken"]?.length ?? 1, world),
  ),
];

export const noClients: readonly Row[] = [
  client("no clientId at all", () => undefined),
  client("an invented clientId", (_, world) => world.target.unique()),
  client("an invented clientId of the same length", (right, world) =>
    invented(right.client.id.length, world),
  ),
  client("the refreshToken as the clientId", ({ body }) => body["refreshToken"]),
  client("the client's secret as the clientId", (right) => right.client.secret),
];

/** What is issued to one client is of no use to the other, even with all that is right about that one. */
export const theOther = [
  changed("presented by the other client", ({ body }, world) => {
    const other = secondClientOf(world);
    return "code" in body
      ? exchangeBody(other, body["code"])
      : refreshBody(other, body["refreshToken"] ?? "");
  }),
];
