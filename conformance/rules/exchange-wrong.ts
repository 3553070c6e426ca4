import { without } from "../arbitraries/bodies.ts";
import { altered, nearMisses, type Alteration, type NearMiss } from "../arbitraries/credentials.ts";
import { credentialsOf, ControlFailed, grantOf, type Answer } from "../world/exchange.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { exchangeBody, obtainCode, obtainTokens, yielded } from "../world/steps.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { answerOrHangUp, type Client } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** A change to valid fields after which they must be refused. */
export interface WrongBody {
  readonly name: string;
  readonly change: (right: Right, world: World) => Readonly<Record<string, unknown>>;
}
export type Right = Readonly<{ clientId: string; clientSecret: string; code: string }>;

const absent = (name: keyof Right): WrongBody => ({
  name: `no ${name}`,
  change: (right) => without(right, name),
});

const missOf =
  (name: "clientId" | "clientSecret") =>
  (miss: NearMiss): WrongBody => ({
    name: `${name} ${miss.name}`,
    change: (right) => ({ ...right, [name]: miss.alter(right[name]) }),
  });

export const wrongSecrets = (world: World): readonly WrongBody[] => {
  const hasSecond = world.secondClient !== undefined;
  const other = ({ secondClient }: World): Client => {
    if (secondClient === undefined) throw new ControlFailed("there is no second client");
    return secondClient;
  };
  return [
    ...forBoth([
      absent("clientSecret"),
      {
        name: "a made-up secret",
        change: (right: Right, caseWorld: World) => ({ ...right, clientSecret: caseWorld.unique() }),
      },
      ...(hasSecond
        ? [
            {
              name: "another client's secret",
              change: (right: Right, caseWorld: World) => ({
                ...right,
                clientSecret: other(caseWorld).secret,
              }),
            },
            {
              name: "another client's id",
              change: (right: Right, caseWorld: World) => ({ ...right, clientId: other(caseWorld).id }),
            },
            {
              name: "both clients' secrets in an array",
              change: (right: Right, caseWorld: World) => ({
                ...right,
                clientSecret: [other(caseWorld).secret, right.clientSecret],
              }),
            },
          ]
        : []),
    ]),
    ...nearMisses.map(missOf("clientSecret")),
    {
      name: "the client's id for its secret",
      change: (right) => ({ ...right, clientSecret: right.clientId }),
    },
    { name: "the code for the secret", change: (right) => ({ ...right, clientSecret: right.code }) },
    {
      name: "the secret under another name",
      change: ({ clientId, clientSecret, code }) => ({
        clientId,
        client_secret: clientSecret,
        secret: clientSecret,
        code,
      }),
    },
  ];
};

/** Fields that plain objects inherit: a lookup finds them, and they have no secret to compare. */
const inheritedNames = ["__proto__", "constructor", "toString", "hasOwnProperty"];

export const wrongClients: readonly WrongBody[] = [
  ...forBoth<WrongBody>([
    absent("clientId"),
    { name: "a made-up client", change: (right, world) => ({ ...right, clientId: world.unique() }) },
  ]),
  ...nearMisses.map(missOf("clientId")),
  {
    name: "a made-up client with its id for its secret",
    change: (right, world) => sameTwice(right, world.unique()),
  },
  {
    name: "a made-up client without a secret",
    change: (right, world) => ({ clientId: world.unique(), code: right.code }),
  },
  {
    name: "a made-up client with an empty secret",
    change: (right, world) => ({ ...right, clientId: world.unique(), clientSecret: "" }),
  },
  {
    name: "a made-up client with the secret null",
    change: (right, world) => ({ ...right, clientId: world.unique(), clientSecret: null }),
  },
  { name: "neither client nor secret", change: ({ code }) => ({ code }) },
  {
    name: "client and secret both null",
    change: ({ code }) => ({ clientId: null, clientSecret: null, code }),
  },
  { name: "client and secret both empty", change: ({ code }) => ({ clientId: "", clientSecret: "", code }) },
  ...inheritedNames.map((name) => ({
    name: `${name} without a secret`,
    change: ({ code }: Right) => ({ clientId: name, code }),
  })),
];

const sameTwice = (right: Right, id: string): Right => ({ ...right, clientId: id, clientSecret: id });

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
  const body = { clientId: stranger.id, clientSecret, code };
  const gain = await anyoneYields(world, await answerOrHangUp(world.target.exchange(body)));
  return gain === undefined
    ? pass
    : fail(
        onlyTheSecret,
        `authorize gave a made-up client a code, which with ${name} yielded a working ${gain}`,
      );
};

const onlyTheSecret = "without a known client's own exact secret, nothing is issued";

/** The wrong body is refused. The right one is then granted, for the same code or, if the attempt used that up, for a twin. */
export const wrongBodyIsRefused = async ({ name, change }: WrongBody, world: World): Promise<CaseVerdict> => {
  const { code } = await obtainCode(world);
  const right: Right = { clientId: world.client.id, clientSecret: world.client.secret, code };
  const body = change(right, world);
  if (JSON.stringify(body) === JSON.stringify(right)) return discard(`nothing to alter for "${name}"`);
  const gain = await anyoneYields(world, await answerOrHangUp(world.target.exchange(body)));
  if (gain !== undefined) return fail(onlyTheSecret, `${name}: yielded a working ${gain}`);
  await rightStillWorks(world, code);
  return pass;
};

/** A wrong secret stays wrong when sent repeatedly. */
export const insistenceIsRefused = async (times: number, world: World): Promise<CaseVerdict> => {
  const { code } = await obtainCode(world);
  const body = { ...exchangeBody(world.client, code), clientSecret: world.unique() };
  for (let time = 1; time <= times; time += 1) {
    const gain = await anyoneYields(world, await answerOrHangUp(world.target.exchange(body)));
    if (gain !== undefined)
      return fail(onlyTheSecret, `a made-up secret, sent ${time} times, yielded a working ${gain}`);
  }
  await rightStillWorks(world, code);
  return pass;
};

export const withSecretAltered = (alteration: Alteration): WrongBody => ({
  name: `secret altered (${alteration.how})`,
  change: (right) => ({ ...right, clientSecret: altered(right.clientSecret, alteration) }),
});

/** What an answer yielded to any client of the run. */
const anyoneYields = async (world: World, answer: Answer | undefined): Promise<string | undefined> =>
  (await yielded(world, answer)) ??
  (world.secondClient === undefined ||
  answer === undefined ||
  credentialsOf(answer).refreshToken === undefined
    ? undefined
    : yielded(world, answer, world.secondClient));

const rightStillWorks = async (world: World, code: string): Promise<void> => {
  const { accessToken } = credentialsOf(await world.target.exchange(exchangeBody(world.client, code)));
  if (accessToken === undefined) await obtainTokens(world);
};
