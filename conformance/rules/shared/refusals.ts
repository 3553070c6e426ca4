import { attemptKinds, attemptWrongly, type AttemptKind } from "./attempts.ts";
import { exchangeBody, obtainCode, obtainTokens, present } from "../../world/steps.ts";
import type { Answer } from "../../world/exchange.ts";
import { answerOrHangUp, jsonHeader, withQuery } from "../../world/target.ts";
import type { World } from "../../world/world.ts";
import { endpoints } from "../../contract/forms.ts";

/** A refused exchange: what was sent, as strings that an answer may echo, and the answer. */
export interface Refused {
  readonly sent: readonly string[];
  /** Tokens that the code had yielded before. */
  readonly earlier?: readonly string[];
  /** Whether the document leaves open if this is refused at all. */
  readonly mayBeGranted?: boolean;
  readonly answer: Answer | undefined;
}

/** Sends a raw body to an endpoint that issues tokens. */
export const sendText = (
  world: World,
  endpoint: "exchange" | "refresh",
  text: string,
  query = "",
): Promise<Answer> =>
  world.target.send({
    method: "POST",
    path: withQuery(endpoints[endpoint].path, query),
    headers: [jsonHeader],
    body: text,
  });

/** Sends a raw body to the exchange endpoint; undefined if the service hangs up. */
export const exchangeText = (world: World, text: string, query?: string): Promise<Answer | undefined> =>
  answerOrHangUp(sendText(world, "exchange", text, query));

/** Makes the service refuse. Awaits `ready` right before the request to be refused. */
export type Provoke = (world: World, ready: () => Promise<unknown>) => Promise<Refused>;

const attempted =
  (kind: AttemptKind): Provoke =>
  async (world, ready) => {
    const issued = await obtainCode(world);
    await ready();
    const answer = await attemptWrongly(world, kind, issued);
    const sent = [issued.code, `${issued.code}x`, issued.client.id];
    return { sent, mayBeGranted: kind === "another client", answer };
  };

const withCode =
  (code: (world: World) => unknown): Provoke =>
  async (world, ready) => {
    const value = await code(world);
    await ready();
    const sent = [world.client.id, ...[value].flat().map(String)];
    return { sent, answer: await present(world, world.client, value) };
  };

const withText =
  (write: (right: Record<string, unknown>) => string): Provoke =>
  async (world, ready) => {
    const { client, code } = await obtainCode(world);
    await ready();
    const answer = await exchangeText(world, write(exchangeBody(client, code)));
    return { sent: [code, client.id], answer };
  };

const usedCode: Provoke = async (world, ready) => {
  const { client, code, accessToken, refreshToken } = await obtainTokens(world);
  await ready();
  const answer = await present(world, client, code);
  return { sent: [code, client.id], earlier: [accessToken, refreshToken], answer };
};

/** Only on a virtual clock: otherwise it takes as long as a code lives. */
const expiredCode: Provoke = async (world, ready) => {
  const { client, code } = await obtainCode(world);
  await world.clock.sleep(world.limits.codeLifetimeMs + 60_000, world.limits.codeLifetimeMs);
  await ready();
  return { sent: [code, client.id], answer: await present(world, client, code) };
};

export const refusalsOf = (world: World): Readonly<Record<string, Provoke>> => ({
  ...Object.fromEntries(attemptKinds(world).map((kind) => [kind, attempted(kind)])),
  "a used code": usedCode,
  ...(world.clock.kind === "virtual" ? { "an expired code": expiredCode } : {}),
  "an unknown code": withCode((caseWorld) => caseWorld.unique()),
  "an empty code": withCode(() => ""),
  "no code": withCode(() => undefined),
  "a code that is null": withCode(() => null),
  "a code that is a number": withCode(() => 12_345),
  "a code that is an object": withCode(() => ({})),
  "an access token as code": withCode(async (caseWorld) => (await obtainTokens(caseWorld)).accessToken),
  "no body": withText(() => ""),
  "an empty object": withText(() => "{}"),
  "an array": withText((right) => JSON.stringify([right])),
  "a JSON string": withText((right) => JSON.stringify(JSON.stringify(right))),
  "JSON cut short": withText((right) => JSON.stringify(right).slice(0, -1)),
  "no JSON": withText((right) => JSON.stringify(right).replaceAll('"', "'")),
});
