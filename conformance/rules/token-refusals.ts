import { catchAlls, misspellings, nearMisses } from "../arbitraries/credentials.ts";
import { forBoth } from "../checks/client-assignment.ts";
import { inGroups } from "../contract/text.ts";
import { expectThat, fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import type { Rules } from "../checks/rule.ts";
import { freshRefreshTokenWorks, tokensRefreshed } from "../world/controls.ts";
import { credentialsOf, grantOf } from "../world/exchange.ts";
import {
  exchangeBody,
  obtainCode,
  obtainTokens,
  refreshBody,
  refreshes,
  secondClientOf,
} from "../world/steps.ts";
import { answerOrHangUp, type Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";
import { areRefused, gainIn, namesOf, refused, type Refusal } from "./refusals.ts";
import {
  insistence,
  near,
  noClients,
  noCodes,
  noTokens,
  secretsOfStrangers,
  theOther,
  wrongClients,
  wrongSecrets,
  type Body,
  type Right,
  type Row,
} from "./token-rows.ts";

/* Refused exchanges and refreshes (sections 4.2 and 4.3). */

/** Exchanges of a live code. */
const exchanging = (expected: string): Refusal<Right, Body> => ({
  expected,
  right: async (world) => {
    const { client, code, grant } = await obtainCode(world);
    return { client, code, state: grant.state, body: exchangeBody(client, code) };
  },
  gain: exchangeGain,
  // The code works or, if the attempt used that up, a twin does.
  control: async (world, { body }) => {
    const { accessToken } = credentialsOf(await world.target.exchange(body));
    if (accessToken === undefined) await obtainTokens(world);
  },
});

async function exchangeGain(world: World, _right: unknown, body: Body): Promise<string | undefined> {
  return gainIn(world, await answerOrHangUp(world.target.exchange(body)), clientsOf(world));
}

/** Refreshes with a token that was refreshed so many times before. */
const refreshing = (expected: string, uses = 0): Refusal<Right, Body> => ({
  expected,
  right: async (world) => {
    const tokens = await tokensRefreshed(world, uses);
    return { ...tokens, body: refreshBody(tokens.client, tokens.refreshToken) };
  },
  gain: async (world, _right, body) =>
    gainIn(world, await answerOrHangUp(world.target.refresh(body)), clientsOf(world)),
  // The very token must work, because only time ends it (section 3.2). If it does not, a twin that was refreshed as
  // often tells a side effect of the refusals from a service that refreshes nothing, or not so often.
  control: async (world, { client, body }, names) => {
    if (await refreshes(world, client, body["refreshToken"] ?? "")) return pass;
    await freshRefreshTokenWorks(world, { client }, uses);
    return fail(
      "a refused refresh does not affect the refreshToken; only time ends its life",
      `after ${names} the refreshToken is refused, while an untouched one works`,
    );
  },
});

/** An unregistered client gets no tokens, not even for a code that authorize gave it. */
const strangersOwnCodeIsRefused = async (name: string, world: World): Promise<CaseVerdict> => {
  const stranger: Client = { ...world.client, id: world.target.unique() };
  const answer = await answerOrHangUp(world.target.authorize({ client: stranger }));
  const given = answer === undefined ? undefined : grantOf(answer)?.code;
  if (given === undefined) return pass;
  const body = { clientId: stranger.id, clientSecret: secretsOfStrangers[name], code: given };
  const gain = await exchangeGain(world, undefined, body);
  return expectThat(
    gain === undefined,
    onlyTheSecret,
    `authorize gave a made-up client a code; with ${name}, ${gain ?? ""}`,
  );
};

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

const ofGroups = {
  print: ({ rows, uses }: Group): string =>
    `${uses === 0 ? "" : uses === 1 ? "once it was refreshed: " : `once it was refreshed ${uses} times: `}${namesOf(rows)}`,
  /** Each row by itself, of a token that was never refreshed if that fails too. */
  narrower: ({ rows, uses }: Group): readonly Group[] =>
    rows.flatMap((row) => [...new Set([0, uses])].map((before) => ({ rows: [row], uses: before }))),
};

const onlyTheSecret = "without a known client's own exact secret, nothing is issued";
const bySomeoneElse = exchanging(onlyTheSecret);
const withNoCode = exchanging("a value that was never issued as a code is refused");

/**
 * A value that matches any code may find one that another case was given meanwhile, and which its client cannot use. So
 * it is presented beside each of several codes.
 */
const anyCode = forBoth(catchAlls.map(near("code")));

export const tokenRefusalRules = {
  "code.unknown": (_world, run) =>
    run.all([
      areRefused(run, withNoCode, [...anyCode, ...anyCode, ...anyCode, ...misspellings.map(near("code"))], {
        part: "near misses",
      }),
      areRefused(run, withNoCode, noCodes, { part: "other values" }),
    ]),

  "code.bound-to-client": {
    needs: ["second-client"],
    check: (_world, run) => {
      const ofOne = {
        ...exchanging("a code works only for the client it was issued to"),
        control: async (world: World) => void (await obtainTokens(world, { client: secondClientOf(world) })),
      };
      return areRefused(run, ofOne, Array.from({ length: run.cases(0.3, 4) }, () => theOther).flat());
    },
  },

  "exchange.authenticates-client": (world, run) =>
    run.all([
      areRefused(run, bySomeoneElse, wrongSecrets(world), { part: "near misses" }),
      areRefused(run, bySomeoneElse, insistence, {
        part: "a wrong secret again and again",
        size: insistence.length,
        narrower: () => [],
      }),
    ]),

  "exchange.unknown-client": (_world, run) =>
    run.all([
      areRefused(run, bySomeoneElse, wrongClients),
      run.forEach(Object.keys(secretsOfStrangers), strangersOwnCodeIsRefused, {
        part: "a code of its own",
        print: (name) => name,
      }),
    ]),

  "refresh.unknown": (_world, run) =>
    run.forEach(
      withPast([
        ...forBoth([noTokens, ...inGroups(catchAlls.map(near("refreshToken")), GROUP)]),
        ...inGroups(misspellings.map(near("refreshToken")), GROUP),
      ]),
      ({ rows, uses }, world) =>
        refused(refreshing("a value that was never issued as a refreshToken is refused", uses))(rows, world),
      ofGroups,
    ),

  "refresh.unknown-client": (_world, run) =>
    run.forEach(
      [
        ...withPast([...forBoth([noClients]), ...inGroups(nearMisses.map(near("clientId")), GROUP)]),
        { rows: noClients, uses: OFTEN },
      ],
      ({ rows, uses }, world) =>
        refused(refreshing("a refresh with an unknown clientId is refused", uses))(rows, world),
      ofGroups,
    ),

  "refresh.bound-to-client": {
    needs: ["second-client"],
    check: (_world, run) => {
      const ofOne = {
        ...refreshing("a refreshToken works only for the client it was issued to"),
        // Not the token itself, which a service may well revoke now.
        control: (world: World) => freshRefreshTokenWorks(world, { client: secondClientOf(world) }),
      };
      return areRefused(run, ofOne, forBoth(theOther));
    },
  },
} satisfies Rules;
