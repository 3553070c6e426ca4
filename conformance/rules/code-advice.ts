import { describe } from "../world/exchange.ts";
import { attemptWrongly, type AttemptKind } from "./shared/attempts.ts";
import { expectThat, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import {
  exchangeable,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  opens,
  present,
  refreshes,
  yielded,
} from "../world/steps.ts";
import type { World } from "../world/world.ts";

export const fateAfter = async (world: World, kind: AttemptKind): Promise<string> => {
  const issued = await obtainCode(world);
  const attempt = await attemptWrongly(world, kind, issued);
  if ((await yielded(world, attempt, issued.client)) !== undefined) return "the attempt was granted";
  return (await exchangeable(world, issued)) ? "still works" : "used up";
};

export const tokensDieWithReuse = async (refreshed: boolean, world: World): Promise<CaseVerdict> => {
  const bystander = await obtainTokens(world);
  const tokens = await obtainTokens(world);
  if (!(await opens(world, tokens.accessToken)))
    return inconclusive("the tokens did not work before the reuse");
  const latest = refreshed ? await obtainRefreshed(world, tokens) : tokens;
  const again = await present(world, tokens.client, tokens.code);
  if (!(await opens(world, bystander.accessToken)))
    return inconclusive("the tokens of another code stopped working too");
  const alive = (await opens(world, latest.accessToken))
    ? "access token"
    : (await refreshes(world, tokens.client, tokens.refreshToken))
      ? "refresh token"
      : undefined;
  return expectThat(
    alive === undefined,
    "the tokens of a code are revoked once the code is presented again",
    `its ${alive} still worked after the second exchange, which got ${again === undefined ? "no answer" : describe(again)}`,
  );
};
