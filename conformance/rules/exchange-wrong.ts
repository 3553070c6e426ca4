import { without } from "../arbitraries/bodies.ts";
import {
  altered,
  columnNames,
  isSameClientId,
  nearMisses,
  printAlteration,
  type Alteration,
  type NearMiss,
} from "../arbitraries/credentials.ts";
import { credentialsOf, grantOf } from "../world/exchange.ts";
import { expectThat, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { exchangeBody, obtainCode, obtainTokens, secondClientOf } from "../world/steps.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { answerOrHangUp, type Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";
import { gainIn, type Refusal, type Wrong } from "./refusals.ts";

type Right = ReturnType<typeof exchangeBody<string>>;
type Body = Readonly<Record<string, unknown>>;

/** Exchanges of a live code that lack its client's id or secret. */
export const exchangesBySomeoneElse: Refusal<Right, Body> = {
  expected: "without a known client's own exact secret, nothing is issued",
  right: async (world) => exchangeBody(world.client, (await obtainCode(world)).code),
  gain: gainOfBody,
  control: (world, { code }) => codeOrTwinWorks(world, code),
};

async function gainOfBody(world: World, _right: unknown, body: Body): Promise<string | undefined> {
  return gainIn(world, await answerOrHangUp(world.target.exchange(body)), clientsOf(world));
}

/** A row, unless its body means the right one after all. */
const wrong = (name: string, change: (right: Right, world: World) => Body): Wrong<Right, Body> => ({
  name,
  of: (right, world) => {
    const body = change(right, world);
    const meant = isSameClientId(right.clientId, body["clientId"])
      ? { ...body, clientId: right.clientId }
      : body;
    return JSON.stringify(meant) === JSON.stringify(right) ? undefined : body;
  },
});

type Field = "clientId" | "clientSecret";

const absent = (name: Field) => wrong(`no ${name}`, (right) => without(right, name));

const missOf = (name: Field) => (miss: NearMiss) =>
  wrong(`${name} ${miss.name}`, (right) => ({ ...right, [name]: miss.alter(right[name]) }));

/** A row with this in place of a field. */
const instead = (name: string, field: Field, value: (right: Right, world: World) => unknown) =>
  wrong(name, (right, world) => ({ ...right, [field]: value(right, world) }));

/** What only a service takes that compares with the secrets of all clients. */
const ofAnotherClient = [
  instead("another client's secret", "clientSecret", (_, world) => secondClientOf(world).secret),
  instead("another client's id", "clientId", (_, world) => secondClientOf(world).id),
  instead("both clients' secrets in an array", "clientSecret", ({ clientSecret }, world) => [
    secondClientOf(world).secret,
    clientSecret,
  ]),
];

export const wrongSecrets = ({ secondClient }: World): readonly Wrong<Right, Body>[] => [
  ...forBoth([
    absent("clientSecret"),
    instead("a made-up secret", "clientSecret", (_, world) => world.unique()),
    ...(secondClient === undefined ? [] : ofAnotherClient),
  ]),
  ...[...nearMisses, ...columnNames("clientSecret", "client_secret", "secret")].map(missOf("clientSecret")),
  instead("the client's id for its secret", "clientSecret", ({ clientId }) => clientId),
  instead("the code for the secret", "clientSecret", ({ code }) => code),
];

/** A wrong secret stays wrong when sent repeatedly. */
export const insistence = Array.from({ length: 8 }, (_, time) =>
  instead(
    `a wrong secret, sent ${time + 1} times`,
    "clientSecret",
    ({ clientSecret }) => `${clientSecret}wrong`,
  ),
);

export const alteredSecret = (alteration: Alteration): Wrong<Right, Body> =>
  instead(`secret altered: ${printAlteration(alteration)}`, "clientSecret", ({ clientSecret }) =>
    altered(clientSecret, alteration),
  );

/** A client that nobody registered, with this in place of the secret; undefined leaves it out. */
const stranger = (name: string, clientSecret: unknown) =>
  wrong(name, ({ code }, world) => ({ clientId: world.unique(), clientSecret, code }));

/** Fields that plain objects inherit: a lookup finds them, and they have no secret to compare. */
const inheritedNames = ["__proto__", "constructor", "toString", "hasOwnProperty"];

export const wrongClients: readonly Wrong<Right, Body>[] = [
  ...forBoth([absent("clientId"), instead("a made-up client", "clientId", (_, world) => world.unique())]),
  ...nearMisses.map(missOf("clientId")),
  wrong("a made-up client with its id for its secret", (right, world) => {
    const id = world.unique();
    return { ...right, clientId: id, clientSecret: id };
  }),
  stranger("a made-up client without a secret", undefined),
  stranger("a made-up client with an empty secret", ""),
  stranger("a made-up client with the secret null", null),
  wrong("neither client nor secret", ({ code }) => ({ code })),
  wrong("client and secret both null", ({ code }) => ({ clientId: null, clientSecret: null, code })),
  wrong("client and secret both empty", ({ code }) => ({ clientId: "", clientSecret: "", code })),
  ...inheritedNames.map((clientId) =>
    wrong(`${clientId} without a secret`, ({ code }) => ({ clientId, code })),
  ),
];

/** Secrets that an unregistered client may send. */
export const secretsOfStrangers: Readonly<Record<string, unknown>> = {
  "a made-up secret": "made-up",
  "no secret": undefined,
  "an empty secret": "",
  "the secret null": null,
};

/** An unregistered client gets no tokens, not even for a code that authorize gave it. */
export const strangersOwnCodeIsRefused = async (
  [name, clientSecret]: readonly [string, unknown],
  world: World,
): Promise<CaseVerdict> => {
  const client: Client = { ...world.client, id: world.unique() };
  const answer = await answerOrHangUp(world.target.authorize({ client }));
  const code = answer === undefined ? undefined : grantOf(answer)?.code;
  if (code === undefined) return pass;
  const gain = await gainOfBody(world, undefined, { clientId: client.id, clientSecret, code });
  return expectThat(
    gain === undefined,
    exchangesBySomeoneElse.expected,
    `authorize gave a made-up client a code; with ${name} ${gain ?? ""}`,
  );
};

/** The control of a refused attempt: its code works or, if the attempt used that up, a twin does. */
export const codeOrTwinWorks = async (world: World, code: string): Promise<void> => {
  const { accessToken } = credentialsOf(await world.target.exchange(exchangeBody(world.client, code)));
  if (accessToken === undefined) await obtainTokens(world);
};
