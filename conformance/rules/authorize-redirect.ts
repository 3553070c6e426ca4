import { ControlFailed, grantOf, locationOf, objectOf, type Answer } from "../world/exchange.ts";
import {
  encodings,
  lookAlikes,
  plainQueries,
  tellingQueries,
  withQuery,
  type Encoding,
} from "../arbitraries/redirect-uri.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { placeOf, strayLocation, withAbsoluteLocation, kindOfBody, outcomeOf } from "./shared/redirects.ts";
import { observing, type Rules } from "../checks/rule.ts";
import { notedFrom } from "../world/noted.ts";
import { answerOrRefusal, obtainCode, obtainTokens, opens, redeem, yieldedCode } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";

/** The callback address of an authorize request, and the parameters next to it (section 4.1). */
export const redirectRules = {
  "authorize.redirect-uri-encoded": (world, run) => {
    const asked = clientsOf(world).flatMap((client) => [
      ...(Object.keys(encodings) as Encoding[]).flatMap((encoding) =>
        orders.map((order): Address => ({ client, encoding, order })),
      ),
      ...[...plainQueries, ...tellingQueries].flatMap((query) =>
        orders.map((order): Address => ({ client, encoding: "as usual", order, query })),
      ),
    ]);
    return run.forEach(asked, judgeAddress, { print: printAddress, clients: "first" });
  },

  "authorize.unregistered-redirect": async (world, run) => {
    let redirects = false;
    const verdict = await run.forEach(
      lookAlikes(world.client.redirectUri),
      async ({ name, address }, caseWorld) => {
        if (await leadsCodeAway(caseWorld, address))
          return fail(
            "no redirect that carries a code leads to an unregistered address",
            `${name} (${address}) got one`,
          );
        const { code, grant } = await obtainCode(caseWorld);
        redirects ||= grant.via === "redirect";
        await redeem(caseWorld, code);
        return pass;
      },
      { print: ({ name, address }) => `${name}: ${address}`, clients: "first" },
    );
    if (verdict.kind !== "passed" || redirects) return verdict;
    return {
      kind: "not-applicable",
      by: "service",
      reason: "the service answers with JSON, and redirected no address to anywhere with a code",
    };
  },

  "authorize.redirect": observing([], async (world) => {
    const { answer, grant } = await obtainCode(world);
    const location = locationOf(answer);
    if (grant.via === "json" || location === undefined)
      return { via: "json", status: answer.status, fields: Object.keys(objectOf(answer)).toSorted() };
    return {
      via: "redirect",
      status: answer.status,
      body: kindOfBody(answer),
      query: addedTo(world.client.redirectUri, location.searchParams),
      fragment: [...new URLSearchParams(location.hash.slice(1)).keys()].toSorted(),
    };
  }),

  "authorize.missing-or-unknown-parameters": observing([], async (world) => {
    const seen: Record<string, unknown> = {};
    for (const [name, query] of oddQueries(world)) {
      const answer = await answerOrRefusal(() => world.target.authorize({ rawQuery: encoded(query) }));
      seen[name] = outcomeOf(answer, await yieldedCode(world, answer));
    }
    return seen;
  }),
} satisfies Rules;

/** Whether a request with this address is redirected elsewhere than to the registered one, with a code that works. */
const leadsCodeAway = async (world: World, redirectUri: string): Promise<boolean> => {
  const received = await answerOrRefusal(() => world.target.authorize({ redirectUri }));
  if (received === undefined) return false;
  const answer = withAbsoluteLocation(received, world.client.redirectUri);
  const location = locationOf(answer);
  const leadsAway =
    location !== undefined && placeOf(location) !== placeOf(new URL(world.client.redirectUri));
  return leadsAway && (await yieldedCode(world, answer));
};

/** Other parameters before or after the address: parsers that decode too early lose or find some there. */
const orders = ["address last", "address first"] as const;

interface Address {
  readonly client: Client;
  readonly encoding: Encoding;
  readonly order: (typeof orders)[number];
  /** Added to the registered address, if present. */
  readonly query?: string;
}

const wholeOf = ({ client, query }: Address): string =>
  query === undefined ? client.redirectUri : withQuery(client.redirectUri, query);

const printAddress = (address: Address): string =>
  `${wholeOf(address)}, percent-encoded ${address.encoding}, ${address.order}`;

/** A harmless query that shows whether the service accepts addresses with an added query at all. */
const PLAIN_QUERY = "q=1";

/**
 * The registered address must be accepted in any encoding. Whether a query may be added to it is not shown, so that is
 * judged only if the service accepts a simple one; then other harmless ones are no different.
 */
const judgeAddress = async (address: Address, world: World): Promise<CaseVerdict> => {
  const { client, query } = address;
  const state = world.target.unique();
  const noted = notedFrom(world);
  const answer = await answerOrRefusal(() => send(world, address, state));
  if (!(await yieldedCode(world, answer, client))) {
    if (query === undefined) {
      const shown = noted();
      await requireFlow(world);
      return fail(
        "the registered address is accepted in percent-encoded form",
        "it got no code that works",
        shown,
      );
    }
    if (!plainQueries.some((plain) => plain === query))
      return discard("the document does not say whether such a query may be added");
    const twin = { ...address, query: PLAIN_QUERY };
    const twinState = world.target.unique();
    if (!(await yieldedCode(world, await answerOrRefusal(() => send(world, twin, twinState)), client)))
      return discard("the service accepts the registered address only unchanged");
    return fail(
      `the address is accepted with ?${query} added, as it is with ?${PLAIN_QUERY}`,
      "it got no code that works",
    );
  }
  if (answer === undefined) return pass;
  const shown = [answer.exchange];
  if (!statesOf(answer).includes(state))
    return fail(
      "the answer carries the state of the request, whatever the address contains",
      "it did not",
      shown,
    );
  const whole = wholeOf(address);
  const stray = strayLocation(answer, whole);
  return stray === undefined ? pass : fail(`the redirect leads to ${whole}`, `it led to ${stray}`, shown);
};

/** Where no client gets through the flow, with an encoded address or one as it is, it is not the address that is refused. */
const requireFlow = async (world: World): Promise<void> => {
  const { client, secondClient } = world;
  const failure = await flowFailure(world, client);
  if (failure === undefined) return;
  if (secondClient !== undefined && (await flowFailure(world, secondClient)) === undefined) return;
  const rawQuery = `clientId=${encodeURIComponent(client.id)}&state=${world.target.unique()}&redirectUri=${encodeURI(client.redirectUri)}`;
  if (!(await yieldedCode(world, await world.target.authorize({ rawQuery })))) throw failure;
};

const flowFailure = async (world: World, client: Client): Promise<ControlFailed | undefined> => {
  try {
    const { accessToken } = await obtainTokens(world, { client });
    return (await opens(world, accessToken))
      ? undefined
      : new ControlFailed("a fresh accessToken opens no list");
  } catch (error) {
    if (error instanceof ControlFailed) return error;
    throw error;
  }
};

const send = (world: World, address: Address, state: string): Promise<Answer> => {
  const { client, encoding, order } = address;
  const redirectUri = `redirectUri=${encodings[encoding](wholeOf(address))}`;
  const others = `clientId=${encodeURIComponent(client.id)}&state=${state}`;
  return world.target.authorize({
    client,
    rawQuery: order === "address first" ? `${redirectUri}&${others}` : `${others}&${redirectUri}`,
  });
};

/** Every state in the answer, because the address may itself contain a parameter of that name. */
const statesOf = (answer: Answer): readonly unknown[] => {
  const location = locationOf(answer);
  const inLocation =
    location === undefined
      ? []
      : [location.search, location.hash].flatMap((part) =>
          new URLSearchParams(part.slice(1)).getAll("state"),
        );
  return [grantOf(answer)?.state, ...inLocation];
};

/** Names of the parameters that the service added to the address. */
const addedTo = (redirectUri: string, parameters: URLSearchParams): readonly string[] => {
  const own = [...new URL(redirectUri).searchParams.keys()];
  return [...parameters.keys()].filter((name) => !own.includes(name)).toSorted();
};

type Parameters = readonly (readonly [name: string, value: string])[];

const encoded = (parameters: Parameters): string =>
  parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");

const oddQueries = (world: World): readonly (readonly [name: string, parameters: Parameters])[] => {
  const { id, redirectUri } = world.client;
  const right = (): Parameters => [
    ["clientId", id],
    ["state", world.target.unique()],
    ["redirectUri", redirectUri],
  ];
  const names = ["clientId", "state", "redirectUri"] as const;
  const others = {
    clientId: "nobody",
    state: world.target.unique(),
    redirectUri: "https://elsewhere.example/",
  };
  return [
    ...names.flatMap((name): (readonly [string, Parameters])[] => {
      const parameters = right();
      const own = parameters.filter(([key]) => key === name);
      return [
        [`${name} absent`, parameters.filter(([key]) => key !== name)],
        [`${name} empty`, parameters.map(([key, value]) => [key, key === name ? "" : value])],
        [`${name} twice, the same`, [...parameters, ...own]],
        [`${name} twice, another one behind`, [...parameters, [name, others[name]]]],
        [`${name} twice, another one before`, [[name, others[name]], ...parameters]],
        [
          `${name} in capitals`,
          parameters.map(([key, value]) => [key === name ? key.toUpperCase() : key, value]),
        ],
      ];
    }),
    ["an unknown parameter", [...right(), ["touchstone", "1"]]],
    ["an unknown parameter without a value", [...right(), ["touchstone", ""]]],
    ["nothing", []],
  ];
};
