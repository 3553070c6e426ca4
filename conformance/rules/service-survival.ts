import { malformedSeconds, type Malformed } from "../arbitraries/malformed.ts";
import type { HistoryVerdict } from "../checks/rule.ts";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { isHangUp, TransportError, type Answer, type Request } from "../world/exchange.ts";
import { shownAlone } from "../world/noted.ts";
import { obtainTokens } from "../world/steps.ts";
import type { World } from "../world/world.ts";

const answered = "malformed input gets an answer that is not a server error";

/** The answer to a request on a connection of its own, or why there was none. */
export const answerOrLoss = async (world: World, request: Request): Promise<Answer | TransportError> => {
  const connection = world.target.dedicated();
  try {
    return await connection.send(request);
  } catch (error) {
    if (error instanceof TransportError) return error;
    throw error;
  } finally {
    await connection.close();
  }
};

export const judgeSurvival = async (
  world: World,
  { name, request, fitting = [] }: Malformed,
): Promise<CaseVerdict> => {
  const answer = await answerOrLoss(world, request);
  if (isHangUp(answer)) return fail(answered, `${name} got its connection closed without an answer`);
  if (answer instanceof TransportError) return fail(answered, `${name} got no answer in time`);
  return answer.status >= 500 && !fitting.includes(answer.status)
    ? fail(answered, `${name} got status ${answer.status}`)
    : pass;
};

/** The same right behind a valid request on its connection, which the service may also close instead. */
export const survivesBehindOthers = async (world: World): Promise<HistoryVerdict> => {
  const { client } = world;
  const { accessToken } = await obtainTokens(world);
  const seconds = malformedSeconds({ ...client, clientId: client.id, accessToken });
  for (const { name, request } of seconds) {
    const judgement = await shownAlone(world, async () => {
      const got = await gotBehind(world, accessToken, request);
      return got === undefined
        ? pass
        : fail(answered, `${name}, right behind a valid request on its connection, got ${got}`);
    });
    if (judgement.kind !== "passed") return judgement;
  }
  return { ...pass, cases: seconds.length };
};

/** What is wrong with what a request got behind a valid one on its connection; undefined if nothing is. */
const gotBehind = async (
  world: World,
  accessToken: string,
  request: Request,
): Promise<string | undefined> => {
  const connection = world.target.dedicated();
  try {
    await connection.list({ accessToken, query: { limit: 1 } });
    return await connection.send(request).then(
      ({ status }) => (status >= 500 ? `status ${status}` : undefined),
      (error: unknown) => {
        if (error instanceof TransportError && error.reason === "timeout") return "no answer in time";
        if (!isHangUp(error)) throw error;
        world.evidence.ignoreLoss(error.exchange);
        return undefined;
      },
    );
  } finally {
    await connection.close();
  }
};
