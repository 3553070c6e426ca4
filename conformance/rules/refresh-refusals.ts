import fc from "fast-check";
import {
  altered,
  alterations,
  catchAlls,
  isSameClientId,
  isSameCredential,
  misspellings,
  nearMisses,
  printAlteration,
  type Alteration,
  type NearMiss,
} from "../arbitraries/credentials.ts";
import { freshRefreshTokenWorks } from "../world/controls.ts";
import { describe } from "../world/exchange.ts";
import { invented } from "../arbitraries/intrusions.ts";
import { inGroups, inTurn } from "../contract/text.ts";
import { brokenBy, fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import type { Judge, Rules } from "../checks/rule.ts";
import { notedFrom, shownAlone } from "../world/noted.ts";
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
import { clientsOf, type World } from "../world/world.ts";

/** A wrong refresh: the body to send instead of the right one, or undefined if it would equal the right one. */
interface Probe {
  readonly name: string;
  readonly body: (tokens: IssuedTokens, world: World) => Promise<object | undefined>;
}

/** How many probes share one token set and its control. */
const GROUP = 8;

const neverIssued = "a value that was never issued as a refreshToken is refused";

/** Each probe by itself, of a token that was never refreshed if that fails too. */
const oneByOne = ({ probes, uses }: Group): readonly Group[] =>
  probes.flatMap((probe) => [...new Set([0, uses])].map((before) => ({ probes: [probe], uses: before })));

export const refreshRefusalRules = {
  "refresh.unknown": (_world, run) =>
    run.all([
      run.forEach(
        withPast([
          ...forBoth([otherCredentials, ...inGroups(catchAlls.map(tokenMiss), GROUP)]),
          ...inGroups(misspellings.map(tokenMiss), GROUP),
        ]),
        refused(neverIssued),
        { part: "near misses", print: nameOf, narrower: oneByOne },
      ),
      run.forAll(
        fc.array(alterations, { minLength: 1, maxLength: 4 }),
        (several, world) => refused(neverIssued)({ probes: several.map(alteredToken), uses: 0 }, world),
        {
          part: "random alterations",
          share: 0.6,
          print: (several) => several.map(printAlteration).join("; "),
        },
      ),
    ]),

  "refresh.unknown-client": (_world, run) =>
    run.forEach(
      [
        ...withPast([...forBoth([noClients]), ...inGroups(clientMisses, GROUP)]),
        { probes: noClients, uses: OFTEN },
      ],
      refused("a refresh with an unknown clientId is refused"),
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

/** Probes that share one token set, and how often that was refreshed before. */
interface Group {
  readonly probes: readonly Probe[];
  readonly uses: number;
}

/** As often as services that count refreshes might. */
const OFTEN = 12;

/** A service may check a token less closely once it has been used, so every other group begins with a valid refresh. */
const withPast = (groups: readonly (readonly Probe[])[]): readonly Group[] =>
  groups.map((probes, group) => ({ probes, uses: group % 2 === 0 ? 1 : 0 }));

const nameOf = ({ probes, uses }: Group): string =>
  `${uses === 0 ? "" : uses === 1 ? "once it was refreshed: " : `once it was refreshed ${uses} times: `}${namesOf(probes)}`;

const namesOf = (probes: readonly Probe[]): string => probes.map(({ name }) => name).join("; ");

/** A refresh with another value in this field, only where that is not the right one after all. */
const withAnother =
  (field: "clientId" | "refreshToken") =>
  (name: string, value: (tokens: IssuedTokens, world: World) => unknown): Probe => ({
    name,
    body: async (tokens, world) => {
      const right = { clientId: tokens.client.id, refreshToken: tokens.refreshToken };
      const other = await value(tokens, world);
      const isRight =
        field === "refreshToken"
          ? isSameCredential(right.refreshToken, other)
          : // Another client of the run is not unknown.
            clientsOf(world).some(({ id }) => isSameClientId(id, other));
      return isRight ? undefined : { ...right, [field]: other };
    },
  });
const withToken = withAnother("refreshToken");
const withClient = withAnother("clientId");

const otherCredentials: readonly Probe[] = [
  withToken("no refreshToken at all", () => undefined),
  withToken("the accessToken in its place", ({ accessToken }) => accessToken),
  withToken("the used code in its place", ({ code }) => code),
  withToken(
    "a fresh code in its place",
    async ({ client }, world) => (await obtainCode(world, { client })).code,
  ),
  withToken("the clientId in its place", ({ client }) => client.id),
  withToken("the client's secret in its place", ({ client }) => client.secret),
  withToken("an invented value of the same length", ({ refreshToken }, world) =>
    invented(refreshToken.length, world),
  ),
];

const tokenMiss = ({ name, alter }: NearMiss): Probe =>
  withToken(`refreshToken: ${name}`, ({ refreshToken }, { secrets }) =>
    secrets.derive(refreshToken, alter(refreshToken), name),
  );

const alteredToken = (alteration: Alteration): Probe =>
  withToken(`${alteration.how} at ${alteration.at}`, ({ refreshToken }, { secrets }) =>
    secrets.derive(refreshToken, altered(refreshToken, alteration), printAlteration(alteration)),
  );

const noClients: readonly Probe[] = [
  withClient("no clientId at all", () => undefined),
  withClient("an invented clientId", (_tokens, world) => world.unique()),
  withClient("an invented clientId of the same length", ({ client }, world) =>
    invented(client.id.length, world),
  ),
  withClient("the refreshToken as the clientId", ({ refreshToken }) => refreshToken),
  withClient("the client's secret as the clientId", ({ client }) => client.secret),
];

const clientMisses: readonly Probe[] = nearMisses.map(({ name, alter }) =>
  withClient(`clientId: ${name}`, ({ client }) => alter(client.id)),
);

/**
 * Sends every probe and checks whether any of them yielded a token. Afterwards the right request must work with the
 * very token that the probes were about, because only time ends it (section 3.2). If it does not, a twin tells a side
 * effect of the refusals from a service that refreshes nothing.
 */
const refused =
  (expected: string): Judge<Group> =>
  async ({ probes, uses }, world) => {
    const tokens = await obtainTokens(world);
    // What was done to the token before, which may be why it is granted.
    const earlier = [tokens.answer.exchange];
    for (let use = 0; use < uses; use += 1)
      earlier.push((await obtainRefreshed(world, tokens)).answer.exchange);
    const sent: Probe[] = [];
    for (const probe of probes) {
      const body = await probe.body(tokens, world);
      if (body === undefined) continue;
      sent.push(probe);
      const noted = notedFrom(world);
      const answer = await answerOrHangUp(world.target.refresh(body));
      const gained = await yielded(world, answer, tokens.client);
      if (gained !== undefined && answer !== undefined)
        return brokenBy(
          nameOf({ probes: [probe], uses }),
          fail(expected, `${probe.name}: it yielded a working ${gained}, ${describe(answer)}`, [
            ...earlier,
            ...noted(),
          ]),
        );
      earlier.push(...noted());
    }
    if (sent.length === 0) return discard("refused requests do not affect this credential");
    if (await refreshes(world, tokens.client, tokens.refreshToken)) return pass;
    await freshRefreshTokenWorks(world, tokens);
    return brokenBy(
      inTurn(nameOf({ probes: sent, uses }), sent),
      fail(
        "a refused refresh does not affect the refreshToken; only time ends its life",
        `after ${namesOf(sent)} the refreshToken is refused, while an untouched one works`,
      ),
    );
  };

/** A client presents a token issued to the other one; its own must work. */
const presentedByAnother = async (owner: "first" | "second", world: World): Promise<CaseVerdict> => {
  const second = secondClientOf(world);
  const [holder, stranger] = owner === "first" ? [world.client, second] : [second, world.client];
  const tokens = await obtainTokens(world, { client: holder });
  await freshRefreshTokenWorks(world, { client: stranger });
  return shownAlone(world, async () => {
    const answer = await answerOrHangUp(world.target.refresh(refreshBody(stranger, tokens.refreshToken)));
    const gained = await yielded(world, answer, stranger);
    return gained === undefined || answer === undefined
      ? pass
      : fail(
          "a refreshToken works only for the client it was issued to",
          `it yielded a working ${gained}, ${describe(answer)}`,
        );
  });
};
