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
} from "../arbitraries/credentials.ts";
import { freshRefreshTokenWorks } from "../world/controls.ts";
import { invented } from "../arbitraries/intrusions.ts";
import { inGroups } from "../contract/text.ts";
import { fail, pass } from "../judging/case-verdict.ts";
import type { Rules } from "../checks/rule.ts";
import {
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  refreshBody,
  refreshes,
  secondClientOf,
  type IssuedTokens,
} from "../world/steps.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { answerOrHangUp, type Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";
import { gainIn, namesOf, refused, type Refusal, type Wrong } from "./refusals.ts";

type Row = Wrong<IssuedTokens, object>;

/** Wrong refreshes, beside a token that was refreshed so many times before. */
const refreshing = (expected: string, uses: number): Refusal<IssuedTokens, object> => ({
  expected,
  right: async (world) => {
    const tokens = await obtainTokens(world);
    for (let use = 0; use < uses; use += 1) await obtainRefreshed(world, tokens);
    return tokens;
  },
  gain: async (world, { client }, body) =>
    gainIn(world, await answerOrHangUp(world.target.refresh(body)), [client]),
  // The very token must work, because only time ends it (section 3.2). If it does not, a twin tells a side effect of
  // the refusals from a service that refreshes nothing.
  control: async (world, { client, refreshToken }, names) => {
    if (await refreshes(world, client, refreshToken)) return pass;
    await freshRefreshTokenWorks(world, { client });
    return fail(
      "a refused refresh does not affect the refreshToken; only time ends its life",
      `after ${names} the refreshToken is refused, while an untouched one works`,
    );
  },
});

/** A refresh with another value in a field, only where that is not the right one after all. */
const instead = (
  field: "clientId" | "refreshToken",
  name: string,
  value: (tokens: IssuedTokens, world: World) => unknown,
): Row => ({
  name,
  of: async (tokens, world) => {
    const other = await value(tokens, world);
    const isRight =
      field === "refreshToken"
        ? isSameCredential(tokens.refreshToken, other)
        : // Another client of the run is not unknown.
          clientsOf(world).some(({ id }) => isSameClientId(id, other));
    return isRight ? undefined : { ...refreshBody(tokens.client, tokens.refreshToken), [field]: other };
  },
});

const otherCredentials: readonly Row[] = [
  instead("refreshToken", "no refreshToken at all", () => undefined),
  instead("refreshToken", "the accessToken in its place", ({ accessToken }) => accessToken),
  instead("refreshToken", "the used code in its place", ({ code }) => code),
  instead(
    "refreshToken",
    "a fresh code in its place",
    async ({ client }, world) => (await obtainCode(world, { client })).code,
  ),
  instead("refreshToken", "the clientId in its place", ({ client }) => client.id),
  instead("refreshToken", "the client's secret in its place", ({ client }) => client.secret),
  instead("refreshToken", "an invented value of the same length", ({ refreshToken }, world) =>
    invented(refreshToken.length, world),
  ),
];

const [anyToken, misspelt] = [catchAlls, misspellings].map((misses) =>
  misses.map(({ name, alter }) =>
    instead("refreshToken", `refreshToken: ${name}`, ({ refreshToken }) => alter(refreshToken)),
  ),
);

const noClients: readonly Row[] = [
  instead("clientId", "no clientId at all", () => undefined),
  instead("clientId", "an invented clientId", (_tokens, world) => world.unique()),
  instead("clientId", "an invented clientId of the same length", ({ client }, world) =>
    invented(client.id.length, world),
  ),
  instead("clientId", "the refreshToken as the clientId", ({ refreshToken }) => refreshToken),
  instead("clientId", "the client's secret as the clientId", ({ client }) => client.secret),
];

const clientMisses = nearMisses.map(({ name, alter }) =>
  instead("clientId", `clientId: ${name}`, ({ client }) => alter(client.id)),
);

/** Rows that share one token set, and how often that was refreshed before. */
interface Group {
  readonly rows: readonly Row[];
  readonly uses: number;
}

/** How many rows share one token set and its control. */
const GROUP = 8;

/** As often as services that count refreshes might. */
const OFTEN = 12;

/** A service may check a token less closely once it has been used, so every other group begins with a valid refresh. */
const withPast = (groups: readonly (readonly Row[])[]): readonly Group[] =>
  groups.map((rows, group) => ({ rows, uses: group % 2 === 0 ? 1 : 0 }));

const inGroupsOfRows = {
  print: ({ rows, uses }: Group): string =>
    `${uses === 0 ? "" : uses === 1 ? "once it was refreshed: " : `once it was refreshed ${uses} times: `}${namesOf(rows)}`,
  /** Each row by itself, of a token that was never refreshed if that fails too. */
  narrower: ({ rows, uses }: Group): readonly Group[] =>
    rows.flatMap((row) => [...new Set([0, uses])].map((before) => ({ rows: [row], uses: before }))),
};

const alteredToken = (one: Alteration): Row =>
  instead("refreshToken", printAlteration(one), ({ refreshToken }) => altered(refreshToken, one));

const neverIssued = "a value that was never issued as a refreshToken is refused";

export const refreshRefusalRules = {
  "refresh.unknown": (_world, run) =>
    run.all([
      run.forEach(
        withPast([
          ...forBoth([otherCredentials, ...inGroups(anyToken ?? [], GROUP)]),
          ...inGroups(misspelt ?? [], GROUP),
        ]),
        ({ rows, uses }, world) => refused(refreshing(neverIssued, uses))(rows, world),
        { part: "near misses", ...inGroupsOfRows },
      ),
      run.forAll(
        fc.array(alterations.map(alteredToken), { minLength: 1, maxLength: 4 }),
        refused(refreshing(neverIssued, 0)),
        { part: "random alterations", share: 0.6, print: namesOf },
      ),
    ]),

  "refresh.unknown-client": (_world, run) =>
    run.forEach(
      [
        ...withPast([...forBoth([noClients]), ...inGroups(clientMisses, GROUP)]),
        { rows: noClients, uses: OFTEN },
      ],
      ({ rows, uses }, world) =>
        refused(refreshing("a refresh with an unknown clientId is refused", uses))(rows, world),
      inGroupsOfRows,
    ),

  "refresh.bound-to-client": {
    needs: ["second-client"],
    check: (_world, run) =>
      run.forEach(
        ["first", "second"] as const,
        (owner, world) => refused(byAnother(owner))([theToken], world),
        { print: (owner) => `the token of the ${owner} client`, clients: "first" },
      ),
  },
} satisfies Rules;

const theToken: Wrong<IssuedTokens, string> = {
  name: "another client presented it",
  of: ({ refreshToken }) => refreshToken,
};

const byAnother = (owner: "first" | "second"): Refusal<IssuedTokens, string> => {
  const of = (world: World, whose: typeof owner): Client =>
    whose === "first" ? world.client : secondClientOf(world);
  const other = owner === "first" ? "second" : "first";
  return {
    expected: "a refreshToken works only for the client it was issued to",
    right: (world) => obtainTokens(world, { client: of(world, owner) }),
    gain: async (world, _right, refreshToken) => {
      const stranger = of(world, other);
      const answer = await answerOrHangUp(world.target.refresh(refreshBody(stranger, refreshToken)));
      return gainIn(world, answer, [stranger]);
    },
    control: (world) => freshRefreshTokenWorks(world, { client: of(world, other) }),
  };
};
