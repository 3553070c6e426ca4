import { refreshBody, type IssuedTokens } from "../world/steps.ts";
import { answerOrHangUp } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** Refreshes that name a live refreshToken, or nearly name it, and must be refused, by what is wrong with them. */
const wrongRefreshes: Readonly<Record<string, (world: World, tokens: IssuedTokens) => object>> = {
  "an unknown client": (world, { refreshToken }) => ({ clientId: world.unique(), refreshToken }),
  "no client": (_world, { refreshToken }) => ({ refreshToken }),
  "an empty client": (_world, { refreshToken }) => ({ clientId: "", refreshToken }),
  "the client in an array": (_world, { client, refreshToken }) => ({ clientId: [client.id], refreshToken }),
  "the refreshToken in an array": (_world, { client, refreshToken }) => ({
    clientId: client.id,
    refreshToken: [refreshToken],
  }),
  "a changed refreshToken": (_world, { client, refreshToken }) => refreshBody(client, `${refreshToken}x`),
  "no refreshToken": (_world, { client }) => ({ clientId: client.id }),
};

/** Makes every such attempt, that of another client included, and lets the token be named as a code too. */
export const refreshWrongly = async (world: World, tokens: IssuedTokens): Promise<void> => {
  for (const body of Object.values(wrongRefreshes))
    await answerOrHangUp(world.target.refresh(body(world, tokens)));
  const { secondClient } = world;
  if (secondClient !== undefined)
    await answerOrHangUp(world.target.refresh(refreshBody(secondClient, tokens.refreshToken)));
  const { client, refreshToken } = tokens;
  await answerOrHangUp(
    world.target.exchange({ clientId: client.id, clientSecret: client.secret, code: refreshToken }),
  );
};
