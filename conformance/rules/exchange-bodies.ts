import {
  heavy,
  inherited,
  notJson,
  notTheObject,
  repeatedKeys,
  type BadBody,
} from "../arbitraries/bodies.ts";
import { credentialsOf } from "../answers.ts";
import { broke, held, type Judgement } from "../judgement.ts";
import { exchangeText } from "../refusals.ts";
import { exchangeBody, obtainCode, yielded } from "../steps.ts";
import { TransportError } from "../world/exchange.ts";
import { answerOrHangUp } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** A bad body, and whether it aims at what later requests inherit. */
interface BadExchange extends BadBody {
  readonly lingers?: true;
}

export const badBodies: readonly BadExchange[] = [
  ...notJson,
  ...notTheObject,
  ...repeatedKeys("code"),
  ...repeatedKeys("clientSecret"),
  ...repeatedKeys("clientId"),
  ...inherited.map((body) => ({ ...body, lingers: true as const })),
  ...heavy,
];

/** The bad body yields nothing, although all that it holds is right; afterwards a right exchange succeeds. */
export const badBodyIsRefused = async (
  world: World,
  { name, write, query, lingers }: BadExchange,
): Promise<Judgement> => {
  const { code } = await obtainCode(world);
  const right = { clientId: world.client.id, clientSecret: world.client.secret, code };
  const gain = await yielded(world, await exchangeText(world, write(right), query?.(right)));
  if (gain !== undefined)
    return broke(
      "a body that is not the documented JSON object is refused",
      `${name}: yielded a working ${gain}`,
    );
  if (lingers === true) {
    const { code: next } = await obtainCode(world);
    const inheriting = await answerOrHangUp(world.target.exchange({ clientId: world.client.id, code: next }));
    if ((await yielded(world, inheriting)) !== undefined)
      return broke(
        "a body leaves nothing behind for later requests",
        `after ${name}, an exchange without a secret was granted`,
      );
  }
  return (await serves(world)) || (await serves(world))
    ? held
    : broke(
        "the service goes on serving after a body that it refused",
        `after ${name}, a right exchange failed twice`,
      );
};

/** Whether a right exchange succeeds; a service that has gone away does not serve. */
const serves = async (world: World): Promise<boolean> => {
  try {
    const { code } = await obtainCode(world);
    return (
      credentialsOf(await world.target.exchange(exchangeBody(world.client, code))).accessToken !== undefined
    );
  } catch (error) {
    if (error instanceof TransportError && error.reason !== "timeout") return false;
    throw error;
  }
};
