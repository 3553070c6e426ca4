import {
  alterations,
  altered,
  catchAlls,
  isSameCredential,
  misspellings,
  printAlteration,
  type NearMiss,
} from "../arbitraries/credentials.ts";
import { forBoth } from "../checks/client-assignment.ts";
import type { Rules } from "../checks/rule.ts";
import { obtainCode, obtainTokens, present, secondClientOf, type IssuedCode } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { codeOrTwinWorks } from "./exchange-wrong.ts";
import { areRefused, gainIn, namesOf, refused, type Refusal, type Wrong } from "./refusals.ts";

/** Values that were never issued as a code, presented by a client that has a live one. */
const neverIssued: Refusal<IssuedCode, { readonly value: unknown }> = {
  expected: "a value that was never issued as a code is refused",
  right: (world) => obtainCode(world),
  gain: async (world, { client }, { value }) => gainIn(world, await present(world, client, value), [client]),
  control: (world, { code }) => codeOrTwinWorks(world, code),
};

type Row = Wrong<IssuedCode, { readonly value: unknown }>;

const row = (name: string, value: (issued: IssuedCode, world: World) => unknown): Row => ({
  name,
  of: async (issued, world) => {
    const other = await value(issued, world);
    return isSameCredential(issued.code, other) ? undefined : { value: other };
  },
});

const nearMiss = ({ name, alter }: NearMiss): Row =>
  row(`a near miss of a live code (${name})`, ({ code }) => alter(code));

const freshCode = async (world: World): Promise<string> => (await obtainCode(world)).code;

/** Values that were issued, but not as a code, and some that were never issued. */
const strangers: readonly Row[] = [
  row("a refresh token", async (_, world) => (await obtainTokens(world)).refreshToken),
  row("an access token", async (_, world) => (await obtainTokens(world)).accessToken),
  row("the client's secret", (_, { client }) => client.secret),
  row("the client's id", (_, { client }) => client.id),
  row("the state of its authorization", ({ grant }) => grant.state),
  row("a made-up value", (_, world) => `${world.unique()}${world.unique()}`),
  row("every character of a code changed", ({ code }) =>
    Array.from(code, (character) => (character === "x" ? "y" : "x")).join(""),
  ),
  row("two live codes, joined", async ({ code }, world) => `${code},${await freshCode(world)}`),
  row("two live codes in an array", async ({ code }, world) => [code, await freshCode(world)]),
  row("no code at all", () => undefined),
];

/**
 * A value that matches any code may find one that another case was given meanwhile, and which its client cannot use. So
 * it is presented after each of several codes.
 */
const forAnyCode = forBoth(catchAlls.map(nearMiss));

export const codeRefusalRules = {
  "code.unknown": (_world, run) =>
    run.all([
      areRefused(
        run,
        neverIssued,
        [...forAnyCode, ...forAnyCode, ...forAnyCode, ...misspellings.map(nearMiss)],
        { part: "near misses" },
      ),
      run.forAll(
        alterations.map((one) => [
          nearMiss({ name: printAlteration(one), alter: (code) => altered(code, one) }),
        ]),
        refused(neverIssued),
        { part: "random alterations", print: namesOf },
      ),
      areRefused(run, neverIssued, strangers, { part: "other values" }),
    ]),

  "code.bound-to-client": {
    needs: ["second-client"],
    check: (_world, run) =>
      run.forEach(
        Array.from({ length: run.cases(0.3, 4) }, (_, at) => at % 2 === 0),
        (firstOwns, world) => refused(toAnother(firstOwns))([theCode], world),
        {
          print: (firstOwns) => (firstOwns ? "a code of the first client" : "a code of the second client"),
          clients: "first",
        },
      ),
  },
} satisfies Rules;

const theCode: Wrong<IssuedCode, string> = { name: "another client exchanged it", of: ({ code }) => code };

const toAnother = (firstOwns: boolean): Refusal<IssuedCode, string> => {
  const thiefIn = (world: World) => (firstOwns ? secondClientOf(world) : world.client);
  return {
    expected: "a code works only for the client it was issued to",
    right: (world) => obtainCode(world, { client: firstOwns ? world.client : secondClientOf(world) }),
    gain: async (world, _right, code) => {
      const thief = thiefIn(world);
      return gainIn(world, await present(world, thief, code), [thief]);
    },
    control: async (world) => void (await obtainTokens(world, { client: thiefIn(world) })),
  };
};
