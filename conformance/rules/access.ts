import fc from "fast-check";
import { describe, pageOf } from "../answers.ts";
import {
  alteredTokens,
  elsewhere,
  inItsPlace,
  inventedTokens,
  nearly,
  withoutToken,
  type Intrusion,
} from "../arbitraries/intrusions.ts";
import { accessTokenHeader } from "../contract/messages.ts";
import { inGroups } from "../groups.ts";
import { broke, held, setAside, undecided, type Judgement } from "../judgement.ts";
import { withConnections } from "../race.ts";
import type { Rules } from "../rule.ts";
import { gaveData, obtainTokens, type IssuedTokens } from "../steps.ts";
import { ControlFailed, type Answer } from "../world/exchange.ts";
import { answerOrHangUp, type ListRequest, type Target } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { accessLifetimeRules } from "./access-lifetime.ts";

type Query = NonNullable<ListRequest["query"]>;

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
            fc.array(fc.oneof(alteredTokens, inventedTokens), { minLength: 1, maxLength: 4 }),
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
