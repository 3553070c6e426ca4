import fc from "fast-check";
import {
  altered,
  alterations,
  catchAlls,
  isSameCredential,
  misspellings,
  nearMisses,
  type Alteration,
  type NearMiss,
} from "../arbitraries/credentials.ts";
import { describe, ControlFailed } from "../world/exchange.ts";
import { invented } from "../arbitraries/intrusions.ts";
import { inGroups } from "../contract/text.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import type { Rules } from "../checks/rule.ts";
import {
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  refreshBody,
  refreshes,
  secondClientOf,
  yielded,
  type IssuedTokens,
} from "../world/steps.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { answerOrHangUp } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** A wrong refresh: the body to send instead of the right one, or undefined if it would equal the right one. */
interface Probe {
  readonly name: string;
  readonly body: (tokens: IssuedTokens, world: World) => object | undefined | Promise<object>;
}

/** How many probes share one token set and its control. */
const GROUP = 8;

const oneByOne = <T extends { readonly probes: readonly Probe[] }>(group: T): readonly T[] =>
  group.probes.map((probe) => ({ ...group, probes: [probe] }));

export const refreshRefusalRules = {
  "refresh.unknown": (_world, run) =>
    run.all([
      run.forEach(
        withPast([
          ...forBoth([otherCredentials, ...inGroups(catchAlls.map(tokenMiss), GROUP)]),
          ...inGroups(misspellings.map(tokenMiss), GROUP),
        ]),
        ({ probes, isInUse }, world) =>
          judgeRefused(world, probes, "a value that was never issued as a refreshToken is refused", isInUse),
        { part: "near misses", print: nameOf, narrower: oneByOne },
      ),
      run.forAll(
        fc.array(alterations, { minLength: 1, maxLength: 4 }),
        (several, world) =>
          judgeRefused(
            world,
            several.map(alteredToken),
            "a value that was never issued as a refreshToken is refused",
          ),
        { part: "random alterations", share: 0.6 },
      ),
    ]),

  "refresh.unknown-client": (_world, run) =>
    run.forEach(
      withPast([...forBoth([noClients]), ...inGroups(clientMisses, GROUP)]),
      ({ probes, isInUse }, world) =>
        judgeRefused(world, probes, "a refresh with an unknown clientId is refused", isInUse),
      { print: nameOf, narrower: oneByOne },
    ),

  "refresh.bound-to-client": {
    needs: ["second-client"],
    check: (_world, run) =>
      run.forEach(["first", "second"] as const, presentedByAnother, {
        print: (owner) => `the token of the ${owner} client`,
        clients: "first",
      }),
  },
} satisfies Rules;

/** Probes that share one token set, and whether that was refreshed before. */
interface Group {
  readonly probes: readonly Probe[];
  readonly isInUse: boolean;
}

/** A service may check a token less closely once it has been used, so every other group begins with a valid refresh. */
const withPast = (groups: readonly (readonly Probe[])[]): readonly Group[] =>
  groups.map((probes, group) => ({ probes, isInUse: group % 2 === 0 }));

const nameOf = ({ probes, isInUse }: Group): string =>
  `${isInUse ? "once it was refreshed: " : ""}${namesOf(probes)}`;

const namesOf = (probes: readonly Probe[]): string => probes.map(({ name }) => name).join("; ");

const withToken = (tokens: IssuedTokens, refreshToken: unknown): object => ({
  clientId: tokens.client.id,
  refreshToken,
});

const otherCredentials: readonly Probe[] = [
  { name: "no refreshToken at all", body: ({ client }) => ({ clientId: client.id }) },
  { name: "the accessToken in its place", body: (tokens) => withToken(tokens, tokens.accessToken) },
  { name: "the used code in its place", body: (tokens) => withToken(tokens, tokens.code) },
  {
    name: "a fresh code in its place",
    body: async (tokens, world) =>
      withToken(tokens, (await obtainCode(world, { client: tokens.client })).code),
  },
  { name: "the clientId in its place", body: (tokens) => withToken(tokens, tokens.client.id) },
  { name: "the client's secret in its place", body: (tokens) => withToken(tokens, tokens.client.secret) },
  {
    name: "an invented value of the same length",
    body: (tokens, world) => withToken(tokens, invented(tokens.refreshToken.length, world)),
  },
];

const missed = <T>(value: string, alter: (value: string) => T): T | undefined => {
  const near = alter(value);
  return isSameCredential(value, near) ? undefined : near;
};

const tokenMiss = ({ name, alter }: NearMiss): Probe => ({
  name: `refreshToken: ${name}`,
  body: (tokens) => {
    const near = missed(tokens.refreshToken, alter);
    return near === undefined ? undefined : withToken(tokens, near);
  },
});

const alteredToken = (alteration: Alteration): Probe => ({
  name: `${alteration.how} at ${alteration.at}`,
  body: (tokens) => {
    const near = missed(tokens.refreshToken, (value) => altered(value, alteration));
    return near === undefined ? undefined : withToken(tokens, near);
  },
});

const withClient = (tokens: IssuedTokens, clientId: unknown): object => ({
  clientId,
  refreshToken: tokens.refreshToken,
});

const noClients: readonly Probe[] = [
  { name: "no clientId at all", body: ({ refreshToken }) => ({ refreshToken }) },
  { name: "an invented clientId", body: (tokens, world) => withClient(tokens, world.unique()) },
  {
    name: "an invented clientId of the same length",
    body: (tokens, world) => withClient(tokens, invented(tokens.client.id.length, world)),
  },
  { name: "the refreshToken as the clientId", body: (tokens) => withClient(tokens, tokens.refreshToken) },
  { name: "the client's secret as the clientId", body: (tokens) => withClient(tokens, tokens.client.secret) },
];

const clientMisses: readonly Probe[] = nearMisses.map(({ name, alter }) => ({
  name: `clientId: ${name}`,
  body: (tokens) => {
    const near = missed(tokens.client.id, alter);
    return near === undefined ? undefined : withClient(tokens, near);
  },
}));

/**
 * Sends every probe and checks whether any of them yielded a token. Afterwards the right request must work with the
 * very token that the probes were about, because only time ends it (section 3.2). If it does not, a twin tells a side
 * effect of the refusals from a service that refreshes nothing.
 */
const judgeRefused = async (
  world: World,
  probes: readonly Probe[],
  expected: string,
  isInUse = false,
): Promise<CaseVerdict> => {
  const tokens = await obtainTokens(world);
  if (isInUse) await obtainRefreshed(world, tokens);
  let sent = 0;
  for (const probe of probes) {
    const body = await probe.body(tokens, world);
    if (body === undefined) continue;
    sent += 1;
    const answer = await answerOrHangUp(world.target.refresh(body));
    const gained = await yielded(world, answer, tokens.client);
    if (gained !== undefined && answer !== undefined)
      return fail(expected, `${probe.name}: it yielded a working ${gained}, ${describe(answer)}`);
  }
  if (sent === 0) return discard("refused requests do not affect this credential");
  if (await refreshes(world, tokens.client, tokens.refreshToken)) return pass;
  const twin = await obtainTokens(world);
  if (!(await refreshes(world, twin.client, twin.refreshToken)))
    throw new ControlFailed("a valid refresh, sent after the wrong ones, returned no working token");
  return fail(
    "a refused refresh does not affect the refreshToken; only time ends its life",
    `after ${namesOf(probes)} the refreshToken is refused, while an untouched one works`,
  );
};

/** A client presents a token issued to the other one; its own must work. */
const presentedByAnother = async (owner: "first" | "second", world: World): Promise<CaseVerdict> => {
  const second = secondClientOf(world);
  const [holder, stranger] = owner === "first" ? [world.client, second] : [second, world.client];
  const tokens = await obtainTokens(world, { client: holder });
  const own = await obtainTokens(world, { client: stranger });
  if (!(await refreshes(world, stranger, own.refreshToken)))
    throw new ControlFailed("the other client's own refreshToken does not work");
  const answer = await answerOrHangUp(world.target.refresh(refreshBody(stranger, tokens.refreshToken)));
  const gained = await yielded(world, answer, stranger);
  return gained === undefined || answer === undefined
    ? pass
    : fail(
        "a refreshToken works only for the client it was issued to",
        `it yielded a working ${gained}, ${describe(answer)}`,
      );
};
