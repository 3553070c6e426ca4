import { credentialsOf, describe, pageOf, headerOf, objectOf, type Answer } from "../world/exchange.ts";
import { counted } from "../contract/text.ts";
import { fail, pass, inconclusive, shownBy, type CaseVerdict } from "../judging/case-verdict.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { refreshTokenBreach, tokenSetBreach } from "../judging/laws/tokens.ts";
import { observing, type ListOptions, type Rules } from "../checks/rule.ts";
import {
  gaveData,
  isShownData,
  obtainRefreshed,
  obtainTokens,
  opens,
  refreshBody,
  refreshSurely,
  refreshes,
  type IssuedTokens,
} from "../world/steps.ts";
import { shownAlone } from "../world/noted.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { alsoAsUsual } from "./shared/usual.ts";
import { refreshLifetimeRules } from "./refresh-lifetime.ts";
import { clientName, toldTimes } from "./told-time.ts";
import { answersThroughLife, refreshReuseRules } from "./refresh-reuse.ts";

/** How one token set is refreshed: by which client, and how often. */
interface Course {
  readonly second: boolean;
  readonly times: number;
}
const once: Course = { second: false, times: 1 };
const thrice: Course = { second: true, times: 3 };
/** As often as services that count refreshes might. */
const often: Course = { second: false, times: 24 };
const each: ListOptions<Course> = {
  clients: "first",
  print: ({ second, times }) =>
    `${counted(times, "refresh", "refreshes")} by the ${second ? "second" : "first"} client`,
};

export const refreshRules = {
  "refresh.token-set": {
    check: (_world, run) =>
      run.all([
        run.forEach([once, thrice, often], (course, world) => refreshed(world, course, judgeTokenSet), each),
        alsoAsUsual(run, async (world, target) => {
          const { client, refreshToken } = await obtainTokens(world);
          return judgeTokenSet(await target.refresh(refreshBody(client, refreshToken)));
        }),
      ]),
    waits: (outer, run) =>
      run.all([
        answersThroughLife(outer, run, (_world, answer) => judgeTokenSet(answer)),
        toldTimes(
          run,
          "refresh",
          [once, thrice].map((course) => clientOf(outer, course)),
          { part: "the time told", print: clientName(outer) },
        ),
      ]),
  },

  "refresh.returns-no-refresh-token": {
    check: (_world, run) =>
      run.forEach(
        [once, thrice, often],
        (course, world) =>
          refreshed(world, course, (answer, tokens) => judgeNoRefreshToken(world, answer, tokens)),
        each,
      ),
    waits: async (outer, run) => answersThroughLife(outer, run, judgeNoRefreshToken),
  },

  "refresh.access-token-works": (_world, run) =>
    run.forEach(
      [once, thrice],
      async (course, world) => {
        const shown = await shownFirst(world, course);
        return refreshed(world, course, (answer) => judgeWorks(world, answer, shown));
      },
      each,
    ),

  "refresh.previous-access-token": observing([], async (world) => {
    const tokens = await obtainTokens(world);
    const first = await obtainRefreshed(world, tokens);
    const original = (await opens(world, tokens.accessToken)) ? "accepted" : "refused";
    await obtainRefreshed(world, tokens);
    const refreshedOne = (await opens(world, first.accessToken)) ? "accepted" : "refused";
    return { exchangedTokenAfterARefresh: original, refreshedTokenAfterTheNext: refreshedOne };
  }),

  ...refreshReuseRules,
  ...refreshLifetimeRules,
} satisfies Rules;

const clientOf = (world: World, course: Course): Client =>
  (course.second ? world.secondClient : undefined) ?? world.client;

/** Refreshes a fresh token set as often as the course says and judges each answer, up to the first breach. */
const refreshed = async (
  world: World,
  course: Course,
  judge: (answer: Answer, tokens: IssuedTokens) => CaseVerdict | Promise<CaseVerdict>,
): Promise<CaseVerdict> => {
  const tokens = await obtainTokens(world, { client: clientOf(world, course) });
  const refreshes: number[] = [];
  for (let time = 1; time <= course.times; time += 1) {
    const answer = await refreshSurely(world, tokens);
    refreshes.push(answer.exchange);
    // A later refusal breaks refresh.reusable; the answers before it have been judged.
    if (time > 1 && credentialsOf(answer).accessToken === undefined) return pass;
    const judgement = await shownAlone(world, async () => judge(answer, tokens));
    if (judgement.kind === "failed") return shownBy([...refreshes, ...(judgement.shownBy ?? [])], judgement);
    if (judgement.kind !== "passed") return judgement;
  }
  return pass;
};

const judgeTokenSet = (answer: Answer): CaseVerdict =>
  verdictOf(tokenSetBreach("refresh", objectOf(answer)), () => describe(answer));

/** Neither under the name refreshToken nor under another one that turns out to work as a refresh token. */
const judgeNoRefreshToken = async (
  world: World,
  answer: Answer,
  { client, refreshToken }: IssuedTokens,
): Promise<CaseVerdict> => {
  const { accessToken } = objectOf(answer);
  if (accessToken === undefined)
    return inconclusive(`a valid refresh got no access token: ${describe(answer)}`);
  const breach = refreshTokenBreach(objectOf(answer));
  if (breach !== undefined) return verdictOf(breach, () => describe(answer));
  const carried = [
    ...textsIn(answer.json, "its field"),
    ...["refresh-token", "x-refresh-token"].map(
      (name) => [`its header ${name}`, headerOf(answer, name)] as const,
    ),
  ];
  for (const [where, text] of carried) {
    if (text === undefined || text === accessToken) continue;
    const holds = text.includes(refreshToken)
      ? "contains the refreshToken that was sent"
      : text.length >= 8 && (await refreshes(world, client, text))
        ? "works as a refreshToken"
        : undefined;
    if (holds !== undefined)
      return fail(
        "a refresh returns no refresh token under any name",
        `${where} ${holds}: ${describe(answer)}`,
      );
  }
  return pass;
};

/** The texts in a value, each behind its place: "its field user name" for a name within a user. */
const textsIn = (value: unknown, place: string): readonly (readonly [where: string, text: string])[] =>
  typeof value === "string"
    ? [[place, value]]
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => textsIn(inner, `${place} ${name}`))
      : [];

/** What a freshly exchanged token of the client is shown. */
const shownFirst = async (world: World, course: Course): Promise<Answer> => {
  const { accessToken } = await obtainTokens(world, { client: clientOf(world, course) });
  return listKnown(world, accessToken);
};

const listKnown = (world: World, accessToken: string): Promise<Answer> => {
  const known = world.prepared.notifications.accounts[0];
  return world.target.list({
    accessToken,
    query: { limit: 1, ...(known === undefined ? {} : { accountId: known.accountId }) },
  });
};

const totalIn = (answer: Answer): number | undefined => {
  const total = pageOf(answer)?.total;
  return typeof total === "number" ? total : undefined;
};

const judgeWorks = async (world: World, answer: Answer, first: Answer): Promise<CaseVerdict> => {
  const { accessToken } = credentialsOf(answer);
  if (accessToken === undefined)
    return fail("a refresh returns an accessToken that opens the notification list", describe(answer));
  const listed = await listKnown(world, accessToken);
  const works =
    (await isShownData(world, listed)) ||
    // The known notifications may be the other client's, and a list of nothing may be refused.
    ((gaveData(listed) || !gaveData(first)) && (await opens(world, accessToken)));
  if (!works) return fail("the accessToken of a refresh opens the notification list", describe(listed));
  const total = totalIn(listed);
  const shown = totalIn(first);
  // Except in an account of the run's own, others may add to the list, but nothing is removed.
  const { known = false } = world.prepared.notifications.accounts[0] ?? {};
  if (shown === undefined || total === shown || (!known && (total ?? 0) > shown)) return pass;
  return fail(
    `the accessToken of a refresh shows the same ${shown} notifications as one of an exchange`,
    describe(listed),
    [first.exchange, listed.exchange],
  );
};
