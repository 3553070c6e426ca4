import { exchangeBody, present, type IssuedCode } from "../../world/steps.ts";
import type { Answer } from "../../world/exchange.ts";
import { answerOrHangUp } from "../../world/target.ts";
import type { World } from "../../world/world.ts";
import type { Verdict } from "../../contract/verdict.ts";

const wrongBodies = {
  "a wrong secret": (world, { client, code }) => ({
    ...exchangeBody(client, code),
    clientSecret: `${client.secret}${world.target.unique()}`,
  }),
  "an empty secret": (_world, { client, code }) => ({ ...exchangeBody(client, code), clientSecret: "" }),
  "no secret": (_world, { client, code }) => ({ clientId: client.id, code }),
  "an unknown client": (world, { client, code }) => ({
    ...exchangeBody(client, code),
    clientId: world.target.unique(),
  }),
  "no client": (_world, { client, code }) => ({ clientSecret: client.secret, code }),
  "a changed code": ({ secrets }, { client, code }) =>
    exchangeBody(client, secrets.derive(code, `${code}x`, "one character more")),
  "a made-up code": (world, { client }) => exchangeBody(client, world.target.unique()),
  "the code in an array": (_world, { client, code }) => exchangeBody(client, [code]),
} as const satisfies Record<
  string,
  (world: World, issued: Pick<IssuedCode, "client" | "code">) => Record<string, unknown>
>;

export type AttemptKind = keyof typeof wrongBodies | "another client";

/** The kinds that this run can make: another client's attempt needs a second client. */
export const attemptKinds = (world: World): readonly AttemptKind[] => [
  ...(Object.keys(wrongBodies) as (keyof typeof wrongBodies)[]),
  ...(world.secondClient === undefined ? [] : (["another client"] as const)),
];

/** Makes such an attempt; undefined if the service hangs up on it. */
export const attemptWrongly = async (
  world: World,
  kind: AttemptKind,
  issued: Pick<IssuedCode, "client" | "code">,
): Promise<Answer | undefined> => {
  if (kind !== "another client")
    return answerOrHangUp(world.target.exchange(wrongBodies[kind](world, issued)));
  const other = issued.client === world.secondClient ? world.client : world.secondClient;
  return other === undefined ? undefined : present(world, other, issued.code);
};

/** The verdict on what the run could not wait for. No remedy helps before the clock is known to follow what moves it. */
export const couldNotWait = ({ clock }: Pick<World, "clock">, what: string, remedy?: string): Verdict => {
  const doubt = clock.distrusted?.();
  return {
    kind: "could-not-run",
    missing: doubt === undefined ? "clock.advance" : "clock.now",
    reason: [what, doubt ?? remedy].filter((part) => part !== undefined).join("; "),
  };
};
