import type { TimeInterval } from "../judging/interval.ts";
import { describe, objectOf, pageOf, ControlFailed, type Answer, type Request } from "../world/exchange.ts";
import {
  byOtherWays,
  elsewhere,
  inItsPlace,
  nearly,
  otherCredentials,
  withoutToken,
  type Intrusion,
} from "../arbitraries/intrusions.ts";
import { duration } from "../contract/duration.ts";
import { accessTokenHeader } from "../contract/forms.ts";
import { inGroups } from "../contract/text.ts";
import { showsData } from "../judging/laws/pages.ts";
import { sideOf } from "../judging/lifetimes/probe.ts";
import { ageIn } from "../lifetimes/play.ts";
import { fail, pass, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { controlFailure, listForms, type ListForm } from "../world/controls.ts";
import { withConnections, type Connections } from "./shared/many.ts";
import { alsoWithCookies } from "./shared/usual.ts";
import type { Judge, Rules } from "../checks/rule.ts";
import { gaveData, isShownData, obtainTokens, timed, type IssuedTokens } from "../world/steps.ts";
import { answerOrHangUp, encodeQuery, jsonHeader, withQuery, type Target } from "../world/target.ts";
import { asUsual, type World } from "../world/world.ts";
import { namesOf, refusedOnce, type Refusal, type Wrong } from "./refusals.ts";
import { accessLifetimeRules } from "./access-lifetime.ts";

/** Connections that nearly always reach each of a few processes behind one address. */
const MANY_CONNECTIONS = 12;

/** Limits with which no other case of the rule asks for the list: a cache knows only what the case itself was answered. */
const OWN_LIMIT = 3;
const OTHER_LIMIT = 4;

/** How many intrusions share one token and its control. */
const GROUP = 8;

export const accessRules = {
  "access.required": {
    needs: ["notifications"],
    check: (world, run) => {
      const known = inGroups([...elsewhere, ...inItsPlace, ...nearly, ...byOtherWays], GROUP);
      return run.forEach(
        [
          ...known.map((intrusions, group) => ({
            intrusions: [...withoutToken, ...intrusions],
            query: formAt(world, group),
            connections: 1,
          })),
          ...otherCredentials.map((intrusion) => ({
            intrusions: [intrusion],
            query: { limit: 1 },
            connections: MANY_CONNECTIONS,
          })),
          { intrusions: withoutToken, query: { limit: OWN_LIMIT }, connections: 1, isUsual: true },
        ],
        areKeptOut,
        {
          print: ({ intrusions, connections }) => namesOf(rowsOf(intrusions, connections)),
          narrower: ({ intrusions, ...others }) =>
            intrusions.map((intrusion) => ({ ...others, intrusions: [intrusion] })),
        },
      );
    },
  },

  "access.header": (_world, run) => run.forEach(spellings, judgeSpelling),

  ...accessLifetimeRules,
} satisfies Rules;

/** The forms of the list in turn. */
const formAt = ({ prepared }: World, nth: number): ListForm => {
  const forms = listForms(prepared);
  return forms[nth % forms.length] ?? {};
};

interface Intrusions {
  readonly intrusions: readonly Intrusion[];
  readonly query: ListForm;
  /** How many connections each of them is tried over, since processes behind one address may differ. */
  readonly connections: number;
  /** Sent as common clients do, who accept compressed lists: a cache keeps these apart. */
  readonly isUsual?: true;
}

const areKeptOut: Judge<Intrusions> = alsoWithCookies(
  ({ intrusions, query, connections: count, isUsual }, given) => {
    const world = isUsual === true ? asUsual(given) : given;
    return withConnections(world, count, (connections) =>
      refusedOnce(withoutRight(connections, query))(rowsOf(intrusions, count), world),
    );
  },
);

/** The right token, and the total that it is shown. */
interface Right {
  readonly tokens: IssuedTokens;
  readonly issued: TimeInterval;
  readonly total: unknown;
}

interface Sent {
  readonly at: Intrusion["at"] | undefined;
  readonly headers: Request["headers"];
  /** Added to the query. */
  readonly added: ListForm;
}

const rowsOf = (intrusions: readonly Intrusion[], count: number): readonly Wrong<Right, Sent>[] =>
  intrusions.map(({ name, at, ...intrusion }) => ({
    name: count === 1 ? name : `${name}, over ${count} connections`,
    of: async ({ tokens }, world) => {
      const headers = await intrusion.headers(tokens, world);
      return headers && { at, headers, added: intrusion.query?.(tokens) ?? {} };
    },
  }));

/**
 * The right token sees data; then, over the same connection and with the same query, so that neither a cache nor the
 * connection's past lets anyone in, no intrusion does; afterwards the right token still does.
 */
const withoutRight = (connections: Connections, query: ListForm): Refusal<Right, Sent> => ({
  expected: "no data is returned without a valid accessToken in x-service-access-token",
  right: async (world) => {
    const { value: tokens, at: issued } = await timed(world, () => obtainTokens(world));
    return { tokens, issued, ...(await expectData(connections[0] ?? world.target, tokens, query)) };
  },
  gain: async (world, { total }, { at, headers, added }) => {
    const id = world.prepared.notifications.accounts[0]?.ids[0];
    const isById = id !== undefined && at?.path.includes("{id}") === true;
    const whole = isById ? {} : { ...query, ...added };
    const send = (one: Connections[number]): Promise<Answer> =>
      at === undefined
        ? one.list({ headers, query: whole })
        : one.send({
            method: at.method,
            path: withQuery(at.path.replace("{id}", id ?? "0"), encodeQuery(whole)),
            headers,
          });
    for (const answer of await Promise.all(connections.map((one) => answerOrHangUp(send(one))))) {
      if (answer === undefined) continue;
      const counting = totalIn(answer, total);
      if (counting !== undefined) return `${describe(answer)}, and the total in its ${counting}`;
      if (shows(world, answer, isById ? { id } : whole)) return describe(answer);
    }
    return undefined;
  },
  control: async (world, { tokens, issued }) => {
    const connection = connections[0] ?? world.target;
    return gaveData(await connection.list({ accessToken: tokens.accessToken, query }))
      ? pass
      : judgeEarlyDeath(world, { tokens, issued }, connection, query);
  },
});

/**
 * A token that worked at first no longer works, although only time ends it (section 2.2). A twin tells a service that
 * ended it from one that shows nothing to anybody.
 */
const judgeEarlyDeath = async (
  world: World,
  { tokens, issued }: { readonly tokens: IssuedTokens; readonly issued: TimeInterval },
  connection: Omit<Target, "dedicated">,
  query: ListForm,
): Promise<CaseVerdict> => {
  const age = ageIn(world, { issued, lifetimeMs: tokens.expiresInMs }, await world.clock.now());
  const twin = await obtainTokens(world, { client: tokens.client });
  const refusal = await controlFailure(expectData(connection, twin, query));
  if (refusal !== undefined) {
    await expectData(connection, twin, { ...query, limit: OTHER_LIMIT });
    return fail(
      "an accessToken opens the list, whatever was refused at the same address before (section 5.2)",
      `after wrong tokens were refused, ${refusal.message}; with another limit it opens the list`,
    );
  }
  if (sideOf(age) !== "alive")
    return inconclusive("the token may have expired while wrong tokens were presented");
  return fail(
    "an accessToken is accepted until expiresIn seconds after issue (sections 2.2, 5.1)",
    `a token that had worked is refused at an age of at most ${duration(age.greatestMs)}, while a fresh one works; in between, wrong tokens were presented, and other rules of this run sent requests for the same client`,
  );
};

const expectData = async (
  target: Omit<Target, "dedicated">,
  { accessToken }: IssuedTokens,
  query: ListForm,
): Promise<{ readonly total: unknown }> => {
  const answer = await target.list({ accessToken, query });
  if (!gaveData(answer)) throw new ControlFailed(`the valid token is refused: ${describe(answer)}`);
  return { total: pageOf(answer)?.total };
};

/** Names that tell how many there are: X-Total-Count, X-Pagination-Total, Content-Range, totalItems and the like. */
const totalName =
  /(?:^|[-_])total(?:[-_]?(?:count|items|records|results|elements|notifications))?$|^content-range$/i;

/** The header or field that tells the number of notifications that the right token is shown; undefined if none does. */
const totalIn = (answer: Answer, total: unknown): string | undefined => {
  if (typeof total !== "number" || total <= 0) return undefined;
  const tells = ([name, value]: readonly [string, unknown]): boolean =>
    totalName.test(name) && String(value).split(/\D+/).includes(String(total));
  const header = answer.headers.find(tells);
  if (header !== undefined) return `header ${header[0]}`;
  const field = Object.entries(objectOf(answer)).find(tells);
  return field === undefined ? undefined : `field ${field[0]}`;
};

/** Whether an answer revealed something: a notification, a number of them, or an id that the request did not name. */
const shows = ({ prepared: { notifications } }: World, answer: Answer, query: ListForm): boolean => {
  const page = pageOf(answer);
  if (page !== undefined && showsData(page)) return true;
  const asked = new Set(Object.values(query).map(String));
  const known = notifications.accounts.flatMap(({ accountId, ids }) => [accountId, ...ids]);
  if (known.length === 0) return gaveData(answer);
  return known.some((id) => !asked.has(id) && answer.text.includes(id));
};

const spellings: readonly string[] = [
  accessTokenHeader,
  accessTokenHeader.toUpperCase(),
  "X-Service-Access-Token",
  "X-service-access-token",
  "x-Service-Access-Token",
  "x-service-access-tokeN",
];

const SPELLING_TRIES = 3;

/** The same token under another spelling of the header's name; if that fails, the documented spelling is the control. */
const judgeSpelling = async (name: string, world: World): Promise<CaseVerdict> => {
  const look = async (
    triesLeft: number,
  ): Promise<{ readonly accessToken: string; readonly answer: Answer }> => {
    const { accessToken } = await obtainTokens(world);
    const answer = await world.target.list({
      headers: [[name, accessToken], jsonHeader],
      query: { limit: 1 },
    });
    // Other rules may have ended a token meanwhile, which says nothing about the header; another token tells.
    return gaveData(answer) || triesLeft === 1 ? { accessToken, answer } : look(triesLeft - 1);
  };
  const { accessToken, answer } = await look(SPELLING_TRIES);
  if (await isShownData(world, answer)) return pass;
  if (name === accessTokenHeader)
    return fail("an accessToken in x-service-access-token opens the notification list", describe(answer), [
      answer.exchange,
    ]);
  const documented = await world.target.list({ accessToken, query: { limit: 1 } });
  if (!gaveData(documented))
    return inconclusive(`the token is refused under the documented spelling too: ${describe(documented)}`);
  return fail(
    "the header's name is accepted in any capitalisation (RFC 9110 section 5.1)",
    `written ${name}: ${describe(answer)}`,
    [answer.exchange, documented.exchange],
  );
};
