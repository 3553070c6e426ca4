import { attemptKinds, attemptWrongly } from "./attempts.ts";
import { exchangeBody, obtainCode, obtainTokens } from "../../world/steps.ts";
import type { Answer } from "../../world/exchange.ts";
import { answerOrHangUp } from "../../world/target.ts";
import type { World } from "../../world/world.ts";
import { endpoints } from "../../contract/forms.ts";

/** A refused exchange: what was sent, as strings that an answer may echo, and the answer. */
export interface Refused {
  readonly sent: readonly string[];
  /** Tokens that the code had yielded before. */
  readonly earlier: readonly string[];
  /** Whether the document leaves open if this is refused at all. */
  readonly mayBeGranted?: boolean;
  readonly answer: Answer | undefined;
}

const jsonHeader = ["content-type", "application/json"] as const;

/** Sends a raw body to an endpoint that issues tokens. */
export const sendText = (
  world: World,
  endpoint: "exchange" | "refresh",
  text: string,
  query = "",
): Promise<Answer> =>
  world.target.send({
    method: "POST",
    path: query === "" ? endpoints[endpoint].path : `${endpoints[endpoint].path}?${query}`,
    headers: [jsonHeader],
    body: text,
  });

/** Sends a raw body to the exchange endpoint; undefined if the service hangs up. */
export const exchangeText = (world: World, text: string, query?: string): Promise<Answer | undefined> =>
  answerOrHangUp(sendText(world, "exchange", text, query));

/** Makes the service refuse. Awaits `ready` right before the request to be refused. */
export type Provoke = (world: World, ready: () => Promise<unknown>) => Promise<Refused>;

const wrongAttempts = (world: World): Readonly<Record<string, Provoke>> =>
  Object.fromEntries(
    attemptKinds(world).map((kind) => [
      kind,
      async (caseWorld, ready) => {
        const issued = await obtainCode(caseWorld);
        await ready();
        const answer = await attemptWrongly(caseWorld, kind, issued);
        return {
          sent: [issued.code, `${issued.code}x`, issued.client.id],
          earlier: [],
          mayBeGranted: kind === "another client",
          answer,
        };
      },
    ]),
  );

const withCode =
  (code: (world: World) => Promise<unknown>): Provoke =>
  async (world, ready) => {
    const value = await code(world);
    await ready();
    const body = { clientId: world.client.id, clientSecret: world.client.secret, code: value };
    return {
      sent: [world.client.id, ...[value].flat().map(String)],
      earlier: [],
      answer: await answerOrHangUp(world.target.exchange(body)),
    };
  };

const withText =
  (write: (right: Record<string, unknown>) => string): Provoke =>
  async (world, ready) => {
    const issued = await obtainCode(world);
    await ready();
    const text = write(exchangeBody(issued.client, issued.code));
    return { sent: [issued.code, issued.client.id], earlier: [], answer: await exchangeText(world, text) };
  };

const usedCode: Provoke = async (world, ready) => {
  const tokens = await obtainTokens(world);
  await ready();
  const answer = await answerOrHangUp(world.target.exchange(exchangeBody(tokens.client, tokens.code)));
  return {
    sent: [tokens.code, tokens.client.id],
    earlier: [tokens.accessToken, tokens.refreshToken],
    answer,
  };
};

/** Only on a virtual clock: otherwise it takes as long as a code lives. */
const expiredCode: Provoke = async (world, ready) => {
  const issued = await obtainCode(world);
  await world.clock.sleep(world.limits.codeLifetimeMs + 60_000, world.limits.codeLifetimeMs);
  await ready();
  const answer = await answerOrHangUp(world.target.exchange(exchangeBody(issued.client, issued.code)));
  return { sent: [issued.code, issued.client.id], earlier: [], answer };
};

export const refusalsOf = (world: World): Readonly<Record<string, Provoke>> => ({
  ...wrongAttempts(world),
  "a used code": usedCode,
  ...(world.clock.kind === "virtual" ? { "an expired code": expiredCode } : {}),
  "an unknown code": withCode((caseWorld) => Promise.resolve(caseWorld.unique())),
  "an empty code": withCode(() => Promise.resolve("")),
  "no code": withCode(() => Promise.resolve(undefined)),
  "a code that is null": withCode(() => Promise.resolve(null)),
  "a code that is a number": withCode(() => Promise.resolve(12_345)),
  "a code that is an object": withCode(() => Promise.resolve({})),
  "an access token as code": withCode(async (caseWorld) => (await obtainTokens(caseWorld)).accessToken),
  "no body": withText(() => ""),
  "an empty object": withText(() => "{}"),
  "an array": withText((right) => JSON.stringify([right])),
  "a JSON string": withText((right) => JSON.stringify(JSON.stringify(right))),
  "JSON cut short": withText((right) => JSON.stringify(right).slice(0, -1)),
  "no JSON": withText((right) => JSON.stringify(right).replaceAll('"', "'")),
});
