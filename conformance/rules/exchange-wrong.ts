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
import { expectThat, fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { exchangeBody, obtainCode, obtainTokens, secondClientOf, yielded } from "../world/steps.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { answerOrHangUp, type Client } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** A change to valid fields after which they must be refused. */
export interface WrongBody {
  readonly name: string;
  readonly change: (right: Right, world: World) => Readonly<Record<string, unknown>>;
}
type Right = ReturnType<typeof exchangeBody<string>>;

const wrong = (name: string, change: WrongBody["change"]): WrongBody => ({ name, change });

const absent = (name: keyof Right): WrongBody => wrong(`no ${name}`, (right) => without(right, name));

const missOf =
  (name: "clientId" | "clientSecret") =>
  (miss: NearMiss): WrongBody =>
    wrong(`${name} ${miss.name}`, (right, { secrets }) => ({
      ...right,
      [name]: secrets.derive(right[name], miss.alter(right[name]), miss.name),
    }));

/** What only a service takes that compares with the secrets of all clients. */
const ofAnotherClient: readonly WrongBody[] = [
  wrong("another client's secret", (right, world) => ({
    ...right,
    clientSecret: secondClientOf(world).secret,
  })),
  wrong("another client's id", (right, world) => ({ ...right, clientId: secondClientOf(world).id })),
  wrong("both clients' secrets in an array", (right, world) => ({
    ...right,
    clientSecret: [secondClientOf(world).secret, right.clientSecret],
  })),
];

export const wrongSecrets = ({ secondClient }: World): readonly WrongBody[] => [
  ...forBoth([
    absent("clientSecret"),
    wrong("a made-up secret", (right, world) => ({ ...right, clientSecret: world.unique() })),
    ...(secondClient === undefined ? [] : ofAnotherClient),
  ]),
  ...[...nearMisses, ...columnNames("clientSecret", "client_secret", "secret")].map(missOf("clientSecret")),
  wrong("the client's id for its secret", (right) => ({ ...right, clientSecret: right.clientId })),
  wrong("the code for the secret", (right) => ({ ...right, clientSecret: right.code })),
];

/** Fields that plain objects inherit: a lookup finds them, and they have no secret to compare. */
const inheritedNames = ["__proto__", "constructor", "toString", "hasOwnProperty"];

export const wrongClients: readonly WrongBody[] = [
  ...forBoth([
    absent("clientId"),
    wrong("a made-up client", (right, world) => ({ ...right, clientId: world.unique() })),
  ]),
  ...nearMisses.map(missOf("clientId")),
  wrong("a made-up client with its id for its secret", (right, world) => {
    const id = world.unique();
    return { ...right, clientId: id, clientSecret: id };
  }),
  wrong("a made-up client without a secret", ({ code }, world) => ({ clientId: world.unique(), code })),
  wrong("a made-up client with an empty secret", (right, world) => ({
    ...right,
    clientId: world.unique(),
    clientSecret: "",
  })),
  wrong("a made-up client with the secret null", (right, world) => ({
    ...right,
    clientId: world.unique(),
    clientSecret: null,
  })),
  wrong("neither client nor secret", ({ code }) => ({ code })),
  wrong("client and secret both null", ({ code }) => ({ clientId: null, clientSecret: null, code })),
  wrong("client and secret both empty", ({ code }) => ({ clientId: "", clientSecret: "", code })),
  ...inheritedNames.map((name) =>
    wrong(`${name} without a secret`, ({ code }) => ({ clientId: name, code })),
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
  const stranger: Client = { ...world.client, id: world.unique() };
  const answer = await answerOrHangUp(world.target.authorize({ client: stranger }));
  const code = answer === undefined ? undefined : grantOf(answer)?.code;
  if (code === undefined) return pass;
  const gain = await anyoneYields(world, { clientId: stranger.id, clientSecret, code });
  return expectThat(
    gain === undefined,
    onlyTheSecret,
    `authorize gave a made-up client a code, which with ${name} yielded a working ${gain}`,
  );
};

const onlyTheSecret = "without a known client's own exact secret, nothing is issued";

/** The wrong body is refused, and the right one granted. */
export const wrongBodyIsRefused = async ({ name, change }: WrongBody, world: World): Promise<CaseVerdict> => {
  const { code } = await obtainCode(world);
  const right = exchangeBody(world.client, code);
  const body = change(right, world);
  const isRightClient = isSameClientId(right.clientId, body["clientId"]);
  const meant = isRightClient ? { ...body, clientId: right.clientId } : body;
  if (JSON.stringify(meant) === JSON.stringify(right)) return discard(`nothing to alter for "${name}"`);
  const gain = await anyoneYields(world, body);
  if (gain !== undefined) return fail(onlyTheSecret, `${name}: yielded a working ${gain}`);
  await codeOrTwinWorks(world, code);
  return pass;
};

/** A wrong secret stays wrong when sent repeatedly. */
export const insistenceIsRefused = async (times: number, world: World): Promise<CaseVerdict> => {
  const { code } = await obtainCode(world);
  const body = { ...exchangeBody(world.client, code), clientSecret: world.unique() };
  for (let time = 1; time <= times; time += 1) {
    const gain = await anyoneYields(world, body);
    if (gain !== undefined)
      return fail(onlyTheSecret, `a made-up secret, sent ${time} times, yielded a working ${gain}`);
  }
  await codeOrTwinWorks(world, code);
  return pass;
};

export const withSecretAltered = (alteration: Alteration): WrongBody =>
  wrong(`secret altered (${alteration.how})`, (right, { secrets }) => ({
    ...right,
    clientSecret: secrets.derive(
      right.clientSecret,
      altered(right.clientSecret, alteration),
      printAlteration(alteration),
    ),
  }));

/** What such an exchange yields to any client of the run. */
const anyoneYields = async (world: World, body: object): Promise<string | undefined> => {
  const answer = await answerOrHangUp(world.target.exchange(body));
  const gain = await yielded(world, answer);
  if (gain !== undefined || world.secondClient === undefined || answer === undefined) return gain;
  return credentialsOf(answer).refreshToken === undefined
    ? undefined
    : yielded(world, answer, world.secondClient);
};

/** The control of a refused attempt: its code works or, if the attempt used that up, a twin does. */
export const codeOrTwinWorks = async (world: World, code: string): Promise<void> => {
  const { accessToken } = credentialsOf(await world.target.exchange(exchangeBody(world.client, code)));
  if (accessToken === undefined) await obtainTokens(world);
};
