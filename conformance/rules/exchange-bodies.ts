import {
  heavy,
  inherited,
  notJson,
  notTheObject,
  repeatedKeys,
  wrongAlone,
  type BadBody,
  type RightFields,
} from "../arbitraries/bodies.ts";
import { ControlFailed, credentialsOf, TransportError, type Answer } from "../world/exchange.ts";
import { endpoints } from "../contract/forms.ts";
import { expectThat, fail, pass } from "../judging/case-verdict.ts";
import { controlFailure, freshCodeWorks } from "../world/controls.ts";
import { exchangeBody, obtainCode, obtainTokens, yielded } from "../world/steps.ts";
import { answerOrHangUp, jsonHeader, withQuery } from "../world/target.ts";
import type { Run } from "../checks/rule.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { World } from "../world/world.ts";
import { areRefused, gainIn, type Refusal } from "./refusals.ts";

/** What a raw body comes with, other than usually. */
interface More {
  readonly query?: string | undefined;
  readonly type?: string | undefined;
}

/** Sends a raw body to the exchange endpoint; undefined if the service hangs up. */
export const exchangeText = (
  world: World,
  text: string,
  { query = "", type }: More = {},
): Promise<Answer | undefined> =>
  answerOrHangUp(
    world.target.send({
      method: "POST",
      path: withQuery(endpoints.exchange.path, query),
      headers: [type === undefined ? jsonHeader : ["content-type", type]],
      body: text,
    }),
  );

const badBodies: readonly BadBody[] = [...notJson, ...notTheObject, ...inherited, ...heavy];

/** A bad body yields nothing, even though all its values are right; a valid exchange succeeds before it and afterwards. */
export const badBodiesAreRefused = (run: Run): Promise<Verdict> =>
  areRefused(
    run,
    beyondJson,
    badBodies.map((body) => ({ name: body.name, of: () => body })),
  );

const rightFields = async (world: World) => exchangeBody(world.client, (await obtainCode(world)).code);

const beyondJson: Refusal<
  { readonly failure: ControlFailed | undefined; readonly body: RightFields },
  BadBody
> = {
  expected: "a body that is not the documented JSON object is refused",
  right: async (world) => ({
    failure: await controlFailure(freshCodeWorks(world, world)),
    body: await rightFields(world),
  }),
  gain: async (world, { body }, { write, query, type }) =>
    gainIn(world, await exchangeText(world, write(body), { query: query?.(body), type }), [world.client]),
  control: async (world, { failure }, name) => {
    if (failure !== undefined) throw failure;
    if (inherited.some((body) => body.name === name)) {
      const { clientId, code } = await rightFields(world);
      const inheriting = await answerOrHangUp(world.target.exchange({ clientId, code }));
      if ((await yielded(world, inheriting)) !== undefined)
        return fail(
          "a body does not affect later requests",
          `after ${name}, an exchange without a secret was granted`,
        );
    }
    return expectThat(
      (await serves(world)) || (await serves(world)),
      "the service keeps serving after a body that it refused",
      `after ${name}, a valid exchange failed twice`,
    );
  },
};

/** Whether a valid exchange succeeds. A service that has gone away does not serve. */
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

const fields = ["code", "clientSecret", "clientId"] as const;

/**
 * An object with a repeated field is still JSON, and parsers differ in which value they take (RFC 8259 section 4).
 * Refusing it, taking the last and taking the first are readings; a service that accepts a right value in either place
 * has checked none of them, or takes the wrong one for right even by itself, which other rules judge.
 */
export const repeatedKeysHaveOneMeaning = (run: Run): Promise<Verdict> =>
  run.once(
    async (world) => {
      const readings = new Set<string>();
      for (const field of fields) {
        const [last, first] = repeatedKeys(field);
        const [lastCounts, firstCounts] = [await grants(world, last), await grants(world, first)];
        if (lastCounts && firstCounts) {
          if (await grants(world, wrongAlone(field)))
            throw new ControlFailed(`a wrong ${field} is accepted even if it is not repeated`);
          return fail(
            "if a field is repeated, at most one of its values counts",
            `with ${field} repeated, the right value was accepted both first and last`,
          );
        }
        readings.add(lastCounts ? "last-value-counts" : firstCounts ? "first-value-counts" : "refused");
      }
      return { ...pass, cases: fields.length, facts: { readings: [...readings].toSorted() } };
    },
    { part: "repeated keys" },
  );

/** Whether a body with a live code yields anything; a valid exchange of another code is the control. */
const grants = async (world: World, { write }: BadBody): Promise<boolean> => {
  const { code } = await obtainCode(world);
  const gain = await yielded(world, await exchangeText(world, write(exchangeBody(world.client, code))));
  await obtainTokens(world);
  return gain !== undefined;
};
