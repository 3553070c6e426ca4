import { isAnything, isSameCredential, type NearMiss } from "../arbitraries/credentials.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { gainBy, obtainCode, obtainTokens } from "../world/steps.ts";
import { codeOrTwinWorks } from "./exchange-wrong.ts";
import type { World } from "../world/world.ts";

/**
 * A value that matches any code may find one that another case was given meanwhile, and which its client cannot use. So
 * it is presented after each of several codes.
 */
const CODES_FOR_ANYTHING = 3;

/** The near miss of a live code is refused. */
export const nearMissIsRefused = async (miss: NearMiss, world: World): Promise<CaseVerdict> => {
  const codes = isAnything(miss) ? CODES_FOR_ANYTHING : 1;
  let verdict = await refusedOnce(miss, world);
  for (let tried = 1; tried < codes && verdict.kind === "passed"; tried += 1)
    verdict = await refusedOnce(miss, world);
  return verdict;
};

const refusedOnce = async ({ name, alter }: NearMiss, world: World): Promise<CaseVerdict> => {
  const issued = await obtainCode(world);
  const value = world.secrets.derive(issued.code, alter(issued.code), name);
  if (isSameCredential(issued.code, value)) return discard(`"${name}" does not change this code`);
  const gain = await gainBy(world, issued.client, value);
  if (gain !== undefined)
    return fail(
      "a code that was never issued is refused",
      `a near miss of a live code (${name}) yielded a working ${gain}`,
    );
  await codeOrTwinWorks(world, issued.code);
  return pass;
};

type Value = (world: World) => unknown;

const codeOf = async (world: World): Promise<string> => (await obtainCode(world)).code;

/** Values that were issued, but not as a code, and some that were never issued. */
export const strangers: Readonly<Record<string, Value>> = {
  "a refresh token": async (world) => (await obtainTokens(world)).refreshToken,
  "an access token": async (world) => (await obtainTokens(world)).accessToken,
  "the client's secret": ({ client }) => client.secret,
  "the client's id": ({ client }) => client.id,
  "the state of an authorization": async (world) => {
    const state = world.unique();
    await obtainCode(world, { authorize: { state } });
    return state;
  },
  "a made-up value": (world) => `${world.unique()}${world.unique()}`,
  "every character of a code changed": async (world) =>
    Array.from(await codeOf(world), (character) => (character === "x" ? "y" : "x")).join(""),
  "two live codes, joined": async (world) => `${await codeOf(world)},${await codeOf(world)}`,
  "two live codes in an array": async (world) => [await codeOf(world), await codeOf(world)],
  "no code at all": () => undefined,
};

/** The value is refused as a code, and a fresh code works. */
export const strangerIsRefused = async (
  [name, value]: readonly [string, Value],
  world: World,
): Promise<CaseVerdict> => {
  const gain = await gainBy(world, world.client, await value(world));
  if (gain !== undefined)
    return fail(
      "a value that was never issued as a code is refused",
      `${name} in place of a code yielded a working ${gain}`,
    );
  await obtainTokens(world);
  return pass;
};
