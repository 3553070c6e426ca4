import { isSameCredential, type NearMiss } from "../arbitraries/credentials.ts";
import { describe } from "../world/exchange.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { exchangeBody, obtainCode, obtainTokens, yielded } from "../world/steps.ts";
import { answerOrHangUp } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** The near miss of a live code is refused, and the live code works. */
export const nearMissIsRefused = async (world: World, { name, alter }: NearMiss): Promise<CaseVerdict> => {
  const issued = await obtainCode(world);
  const value = alter(issued.code);
  if (isSameCredential(issued.code, value)) return discard(`"${name}" does not change this code`);
  const probe = await answerOrHangUp(
    world.target.exchange({ ...exchangeBody(issued.client, issued.code), code: value }),
  );
  const gain = await yielded(world, probe);
  if (gain !== undefined)
    return fail(
      "a code that was never issued is refused",
      `a near miss of a live code (${name}) yielded a working ${gain}`,
    );
  const right = await world.target.exchange(exchangeBody(issued.client, issued.code));
  if ((await yielded(world, right)) !== undefined) return pass;
  // If no code works at all, the probe means nothing.
  await obtainTokens(world);
  return fail(
    "a live code still works after a near miss of it was refused",
    `after a near miss (${name}) it got ${describe(right)}`,
  );
};

/** Values that were issued, but not as a code, and some that were never issued. */
export const strangers: readonly {
  readonly name: string;
  readonly value: (world: World) => Promise<unknown>;
}[] = [
  { name: "a refresh token", value: async (world) => (await obtainTokens(world)).refreshToken },
  { name: "an access token", value: async (world) => (await obtainTokens(world)).accessToken },
  { name: "the client's secret", value: (world) => Promise.resolve(world.client.secret) },
  { name: "the client's id", value: (world) => Promise.resolve(world.client.id) },
  { name: "the state of an authorization", value: async (world) => stateOfFreshCode(world) },
  { name: "a made-up value", value: (world) => Promise.resolve(`${world.unique()}${world.unique()}`) },
  {
    name: "every character of a code changed",
    value: async (world) =>
      Array.from((await obtainCode(world)).code, (character) => (character === "x" ? "y" : "x")).join(""),
  },
  {
    name: "two live codes, joined",
    value: async (world) => `${(await obtainCode(world)).code},${(await obtainCode(world)).code}`,
  },
  {
    name: "two live codes in an array",
    value: async (world) => [(await obtainCode(world)).code, (await obtainCode(world)).code],
  },
  { name: "no code at all", value: () => Promise.resolve(undefined) },
];

const stateOfFreshCode = async (world: World): Promise<string> => {
  const state = world.unique();
  await obtainCode(world, { authorize: { state } });
  return state;
};

/** The value is refused as a code, and a fresh code works. */
export const strangerIsRefused = async (
  world: World,
  name: string,
  value: (world: World) => Promise<unknown>,
): Promise<CaseVerdict> => {
  const code = await value(world);
  const probe = await answerOrHangUp(
    world.target.exchange({ clientId: world.client.id, clientSecret: world.client.secret, code }),
  );
  const gain = await yielded(world, probe);
  if (gain !== undefined)
    return fail(
      "a value that was never issued as a code is refused",
      `${name} in place of a code yielded a working ${gain}`,
    );
  await obtainTokens(world);
  return pass;
};
