import fc from "fast-check";
import { describe, pageOf } from "../answers.ts";
import { altered, alterations, plainMisses, type Alteration } from "../arbitraries/credentials.ts";
import { accessTokenHeader } from "../contract/messages.ts";
import { inGroups } from "../groups.ts";
import { broke, held, setAside, undecided, type Judgement } from "../judgement.ts";
import { withConnections } from "../race.ts";
import type { Rules } from "../rule.ts";
import { gaveData, obtainCode, obtainTokens, type IssuedTokens } from "../steps.ts";
import { ControlFailed, type Answer, type Request } from "../world/exchange.ts";
import { answerOrHangUp, type ListRequest, type Target } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { accessLifetimeRules } from "./access-lifetime.ts";

type Headers = Request["headers"];
type Query = NonNullable<ListRequest["query"]>;

/** One way of asking without a valid token: the headers, or undefined where they would be the right ones; and what is added to the query. */
interface Intrusion {
  readonly name: string;
  readonly headers: (
    tokens: IssuedTokens,
    world: World,
  ) => Headers | undefined | Promise<Headers | undefined>;
  readonly query?: (tokens: IssuedTokens) => Query;
}

/** Intrusions that share one token and its control. */
const GROUP = 8;

export const accessRules = {
  nothingIsGivenWithoutAValidToken: {
    requirement: "access.required",
    needs: ["notifications"],
    check: (world, run) =>
      run.all([
        run.forEach(
          inGroups([...elsewhere, ...inItsPlace, ...nearly], GROUP).map((intrusions, group) => ({
            intrusions: [...withoutToken, ...intrusions],
            query: queriesOf(world)[group % queriesOf(world).length] ?? {},
          })),
          ({ intrusions, query }, caseWorld) => judgeKeptOut(caseWorld, intrusions, query),
          { part: "known ways", print: ({ intrusions }) => namesOf(intrusions) },
        ),
        run.forAll(
          fc.tuple(
            fc.array(fc.oneof(alterations.map(alteredToken), inventedTokens), { minLength: 1, maxLength: 4 }),
            fc.nat(100),
          ),
          ([intrusions, turn], caseWorld) =>
            judgeKeptOut(
              caseWorld,
              intrusions,
              queriesOf(caseWorld)[turn % queriesOf(caseWorld).length] ?? {},
            ),
          { part: "random tokens", share: 0.6, print: ([intrusions]) => namesOf(intrusions) },
        ),
      ]),
  },

  headerNameMayBeCapitalisedAnyhow: {
    requirement: "access.header",
    check: (_world, run) =>
      run.all([
        run.forEach(spellings, judgeSpelling, { part: "usual spellings" }),
        run.forAll(anySpelling, judgeSpelling, { part: "any spelling", share: 0.5 }),
      ]),
  },

  ...accessLifetimeRules,
} satisfies Rules;

const namesOf = (intrusions: readonly Intrusion[]): string => intrusions.map(({ name }) => name).join("; ");

/** Lists that are known to hold something: everything, one account, one notification, a page. */
const queriesOf = ({ notifications }: World): readonly Query[] => {
  const account = notifications.accounts[0];
  const id = account?.ids[0];
  if (account === undefined || id === undefined) return [{}];
  const { accountId } = account;
  return [
    {},
    { accountId },
    { id },
    { limit: 1, page: 0 },
    { id, accountId },
    { accountId, limit: 2, page: 0 },
  ];
};

const json = ["content-type", "application/json"] as const;
const header = (value: string): Headers => [[accessTokenHeader, value], json];

const withoutToken: readonly Intrusion[] = [
  { name: "no token", headers: () => [json] },
  { name: "an empty token", headers: () => header("") },
  {
    name: "an invented token",
    headers: (tokens, world) => header(invented(tokens.accessToken.length, world)),
  },
];

const invented = (length: number, world: World): string =>
  world
    .unique()
    .repeat(Math.ceil(length / 8))
    .slice(0, length);

const otherHeader = (name: string, value: (token: string) => string = (token) => token): Intrusion => ({
  name: `the right token in ${name}`,
  headers: ({ accessToken }) => [[name, value(accessToken)], json],
});

const inQuery = (name: string): Intrusion => ({
  name: `the right token as the query parameter ${name}`,
  headers: () => [json],
  query: ({ accessToken }) => ({ [name]: accessToken }),
});

/** The right token where the document does not put it (section 5.2 names one header). */
const elsewhere: readonly Intrusion[] = [
  otherHeader("Authorization", (token) => `Bearer ${token}`),
  otherHeader("Authorization"),
  otherHeader("Authorization", (token) => `Basic ${btoa(`:${token}`)}`),
  otherHeader("x-access-token"),
  otherHeader("access-token"),
  otherHeader("x-service-token"),
  otherHeader("x-auth-token"),
  otherHeader("x-api-key"),
  otherHeader("Cookie", (token) => `${accessTokenHeader}=${token}`),
  otherHeader("Cookie", (token) => `accessToken=${token}; access_token=${token}; token=${token}`),
  inQuery(accessTokenHeader),
  inQuery("access_token"),
  inQuery("accessToken"),
  inQuery("token"),
];

const inPlace = (
  name: string,
  value: (tokens: IssuedTokens, world: World) => string | Promise<string>,
): Intrusion => ({
  name,
  headers: async (tokens, world) => header(await value(tokens, world)),
});

/** Other things that a client holds, and values that a careless check lets pass. */
const inItsPlace: readonly Intrusion[] = [
  inPlace("the refreshToken", ({ refreshToken }) => refreshToken),
  inPlace("the used code", ({ code }) => code),
  inPlace("a fresh code", async ({ client }, world) => (await obtainCode(world, { client })).code),
  inPlace("the clientId", ({ client }) => client.id),
  inPlace("the client's secret", ({ client }) => client.secret),
  inPlace("the clientId and the secret", ({ client }) => btoa(`${client.id}:${client.secret}`)),
  ...[
    "0",
    "1",
    "true",
    "false",
    "none",
    "*",
    "Bearer",
    "[object Object]",
    "{}",
    "[]",
    "é",
    "../../etc/passwd",
  ].map((value) => inPlace(`the value ${value}`, () => value)),
  inPlace("four thousand characters", () => "a".repeat(4_000)),
  inPlace("an unsigned JWT", ({ client }) =>
    unsigned({ sub: client.id, client_id: client.id, exp: 9_999_999_999 }),
  ),
  inPlace(
    "the token without its signature",
    ({ accessToken }) => `${accessToken.split(".").slice(0, 2).join(".")}.`,
  ),
  inPlace(
    "the token's claims, unsigned",
    ({ accessToken }) => `${base64url('{"alg":"none","typ":"JWT"}')}.${accessToken.split(".")[1] ?? ""}.`,
  ),
];

const base64url = (text: string): string =>
  btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unsigned = (claims: object): string =>
  `${base64url('{"alg":"none","typ":"JWT"}')}.${base64url(JSON.stringify(claims))}.`;

/** The token, altered. A header cannot show white space at its ends (RFC 9110 section 5.5), so none is put there. */
const alteration = (name: string, alter: (token: string) => string): Intrusion => ({
  name,
  headers: ({ accessToken }) => {
    const value = alter(accessToken);
    return value.trim() === accessToken || !fitsHeader(value) ? undefined : header(value);
  },
});

const fitsHeader = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

const nearly: readonly Intrusion[] = [
  ...plainMisses.map(({ name, alter }) => alteration(`the token: ${name}`, (token) => String(alter(token)))),
  alteration("a space inside the token", (token) => `${token.slice(0, 5)} ${token.slice(5)}`),
  alteration("a tab inside the token", (token) => `${token.slice(0, 5)}\t${token.slice(5)}`),
  alteration("Bearer before the token", (token) => `Bearer ${token}`),
  alteration("the token twice, as a list", (token) => `${token}, ${token}`),
  alteration("the token after another one in a list", (token) => `x, ${token}`),
];

const alteredToken = (one: Alteration): Intrusion =>
  alteration(`the token: ${one.how} at ${one.at}`, (token) => altered(token, one));

const inventedTokens: fc.Arbitrary<Intrusion> = fc
  .stringMatching(/^[\w.-]{0,80}$/)
  .map((value) => inPlace(`the invented token ${value}`, () => value));

/**
 * The right token sees what is there; then, over the same connection and with the same
 * query, so that neither a cache nor the connection's past lets anyone in, no intrusion
 * does; and afterwards the right token still does.
 */
const judgeKeptOut = async (
  world: World,
  intrusions: readonly Intrusion[],
  query: Query,
): Promise<Judgement> =>
  withConnections(world, 1, async ([connection]) => {
    if (connection === undefined) throw new Error("no connection");
    const tokens = await obtainTokens(world);
    await expectData(connection, tokens, query);
    let sent = 0;
    for (const intrusion of intrusions) {
      const headers = await intrusion.headers(tokens, world);
      if (headers === undefined) continue;
      sent += 1;
      const whole = { ...query, ...intrusion.query?.(tokens) };
      const answer = await answerOrHangUp(connection.list({ headers, query: whole }));
      if (answer !== undefined && shows(world, answer, whole))
        return broke(
          "without a valid accessToken in x-service-access-token no data is given out",
          `${intrusion.name}: ${describe(answer)}`,
        );
    }
    if (sent === 0) return setAside("the token is such that nothing could be altered");
    await expectData(connection, tokens, query);
    return held;
  });

const expectData = async (
  target: Omit<Target, "dedicated">,
  { accessToken }: IssuedTokens,
  query: Query,
): Promise<void> => {
  const answer = await target.list({ accessToken, query });
  if (!gaveData(answer)) throw new ControlFailed(`the right token is shown nothing: ${describe(answer)}`);
};

/**
 * Whether an answer gave something away: a notification, a number of them, or an id that
 * the request did not name. An empty page in an envelope that every answer has is nothing.
 */
const shows = ({ notifications }: World, answer: Answer, query: Query): boolean => {
  const page = pageOf(answer);
  if (page !== undefined && (page.items.length > 0 || (typeof page.total === "number" && page.total > 0)))
    return true;
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

const anySpelling: fc.Arbitrary<string> = fc.mixedCase(fc.constant(accessTokenHeader));

/** The same token under another spelling of the header's name; where that fails, the documented one is the control. */
const judgeSpelling = async (name: string, world: World): Promise<Judgement> => {
  const { accessToken } = await obtainTokens(world);
  const answer = await world.target.list({ headers: [[name, accessToken], json], query: { limit: 1 } });
  if (gaveData(answer)) return held;
  if (name === accessTokenHeader)
    return broke("an accessToken in x-service-access-token opens the notification list", describe(answer));
  const documented = await world.target.list({ accessToken, query: { limit: 1 } });
  if (!gaveData(documented))
    return undecided(`the token is refused under the documented spelling too: ${describe(documented)}`);
  return broke(
    "the header's name is read in any capitalisation (RFC 9110 section 5.1)",
    `written ${name}: ${describe(answer)}`,
  );
};
