import {
  extensions,
  heavy,
  inherited,
  notJson,
  notTheObject,
  repeatedKeys,
  wrongAlone,
  sameObject,
  type BadBody,
  type RightFields,
} from "../arbitraries/bodies.ts";
import {
  ControlFailed,
  credentialsOf,
  describe,
  objectOf,
  TransportError,
  type Answer,
} from "../world/exchange.ts";
import { endpoints } from "../contract/forms.ts";
import { expectThat, fail, inconclusive, pass } from "../judging/case-verdict.ts";
import { tokenSetBreach } from "../judging/laws/tokens.ts";
import { controlFailure, freshCodeWorks } from "../world/controls.ts";
import { exchangeBody, obtainCode, obtainTokens, refreshBody, yielded } from "../world/steps.ts";
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

/** Sends a raw body to an endpoint that issues tokens. */
const sendText = (
  world: World,
  endpoint: "exchange" | "refresh",
  text: string,
  { query = "", type }: More = {},
): Promise<Answer> =>
  world.target.send({
    method: "POST",
    path: withQuery(endpoints[endpoint].path, query),
    headers: [type === undefined ? jsonHeader : ["content-type", type]],
    body: text,
  });

/** Sends a raw body to the exchange endpoint; undefined if the service hangs up. */
export const exchangeText = (world: World, text: string, more?: More): Promise<Answer | undefined> =>
  answerOrHangUp(sendText(world, "exchange", text, more));

interface BadExchange extends BadBody {
  /** Whether a parser may accept it (RFC 8259 section 9): then it is only reported whether it was. */
  readonly isExtension?: true;
}

const badBodies: readonly BadExchange[] = [
  ...notJson,
  ...notTheObject,
  ...inherited,
  ...heavy,
  ...extensions.map((body) => ({ ...body, isExtension: true as const })),
];

/** A bad body yields nothing, even though all its values are right; a valid exchange succeeds before it and afterwards. */
export const badBodiesAreRefused = async (run: Run): Promise<Verdict> => {
  const accepted = new Set<string>();
  const rows = badBodies.map((body) => ({ name: body.name, of: () => body }));
  const verdict = await areRefused(run, beyondJson(accepted), rows);
  return verdict.kind === "passed"
    ? { ...verdict, facts: { ...verdict.facts, acceptedBeyondJson: [...accepted].toSorted() } }
    : verdict;
};

type Bodies = Refusal<
  { readonly failure: ControlFailed | undefined; readonly body: RightFields },
  BadExchange
>;

const beyondJson = (accepted: Set<string>): Bodies => ({
  expected: "a body that is not the documented JSON object is refused",
  right: async (world) => ({
    failure: await controlFailure(freshCodeWorks(world, world)),
    body: await valid.exchange(world),
  }),
  gain: async (world, { body }, { name, write, query, type, isExtension }) => {
    const answer = await exchangeText(world, write(body), { query: query?.(body), type });
    const gain = await gainIn(world, answer, [world.client]);
    if (gain === undefined || isExtension !== true) return gain;
    accepted.add(name);
    return undefined;
  },
  control: async (world, { failure }, name) => {
    if (failure !== undefined) throw failure;
    if (inherited.some((body) => body.name === name)) {
      const { clientId, code } = await valid.exchange(world);
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
});

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

/** Valid requests, newly made for each text. */
const valid = {
  exchange: async (world: World) => exchangeBody(world.client, (await obtainCode(world)).code),
  refresh: async (world: World) => refreshBody(world.client, (await obtainTokens(world)).refreshToken),
} as const;

/** JSON can be written in several ways (RFC 8259), and a valid request in any of them gets a token set. */
export const anyTextIsRead = (run: Run, endpoint: keyof typeof valid): Promise<Verdict> =>
  run.forEach(
    Object.entries(sameObject),
    async ([name, write], world) => {
      const answer = await sendText(world, endpoint, write(await valid[endpoint](world)));
      if (tokenSetBreach(endpoint, objectOf(answer)) === undefined) return pass;
      // The control: the same request in the usual text.
      const usual = await world.target[endpoint](await valid[endpoint](world));
      if (tokenSetBreach(endpoint, objectOf(usual)) !== undefined)
        return inconclusive(`a valid ${endpoint} got ${describe(usual)}`);
      return fail(
        `a valid ${endpoint} gets its tokens, in whatever form the JSON of its body is written`,
        `with ${name} it got ${describe(answer)}`,
        [answer.exchange],
      );
    },
    { part: "other texts of the same JSON", print: ([name]) => name },
  );
