import { malformedSeconds, type Malformed } from "../arbitraries/malformed.ts";
import type { HistoryVerdict } from "../checks/rule.ts";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { isHangUp, TransportError } from "../world/exchange.ts";
import { shownAlone } from "../world/noted.ts";
import type { RawRequest } from "../world/raw.ts";
import { obtainTokens } from "../world/steps.ts";
import type { World } from "../world/world.ts";

const answered = "malformed input gets an answer that is not a server error";

export const judgeSurvival = async (
  world: World,
  { name, request, fitting = [] }: Malformed,
): Promise<CaseVerdict> => {
  const { answer, outcome } = await world.raw.request(request);
  if (outcome === "timeout") return fail(answered, `${name} got no answer in time`);
  if (answer === undefined) return fail(answered, `${name} got its connection closed without an answer`);
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
  request: RawRequest,
): Promise<string | undefined> => {
  const connection = world.target.dedicated();
  try {
    await connection.list({ accessToken, query: { limit: 1 } });
    return await connection.send({ headers: [], ...request }).then(
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
