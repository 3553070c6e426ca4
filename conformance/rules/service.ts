import type { Verdict } from "../contract/verdict.ts";
import { malformedRequests, type Malformed } from "../arbitraries/malformed.ts";
import { accessTokenHeader, endpoints } from "../contract/forms.ts";
import { brokenBy, fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { internalsIn, readable, stackTraceIn } from "./shared/leaks.ts";
import { observing, type Judge, type Rules, type Run } from "../checks/rule.ts";
import { mediaTypeOf, outcomeOf } from "./shared/redirects.ts";
import {
  answerOrRefusal,
  exchangeBody,
  gaveData,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  opens,
  yielded,
  yieldedCode,
  type IssuedTokens,
} from "../world/steps.ts";
import { controlFailure, mustOpen } from "../world/controls.ts";
import { TransportError, unlessControlFails, type Answer, type Request } from "../world/exchange.ts";
import { answerOrLoss, judgeSurvival, survivesBehindOthers } from "./service-survival.ts";
import { shownAlone } from "../world/noted.ts";
import type { World } from "../world/world.ts";

export const serviceRules = {
  "service.survives-bad-input": (_world, run) =>
    run.all([
      forEachPart(run, async ({ requests, reading }, world) => {
        // Malformed input must get an answer even where valid requests get nothing.
        const before = await controlFailure(
          mustOpen(world, reading.accessToken, "even before the malformed input, a valid accessToken"),
        );
        for (const malformed of requests) {
          const judgement = await shownAlone(world, () => judgeSurvival(world, malformed));
          if (judgement.kind !== "passed") return brokenBy(malformed.name, judgement);
        }
        if (before !== undefined) throw before;
        return (await unlessControlFails(serves(world), false))
          ? pass
          : fail("the service keeps serving after malformed input", "a valid request got nothing");
      }),
      run.once(survivesBehindOthers, { part: "behind valid requests", replays: 1 }),
    ]),

  "service.leaks-nothing": (_world, run) =>
    forEachPart(run, async ({ part, requests, tokens, reading }, world) => {
      const secrets = secretsIn(world, [tokens, reading]);
      const addresses = addressesOf(world);
      for (const { name, request } of requests) {
        const answer = await answerOrLoss(world, request);
        const sent = `${addresses}\n${textOf(world, request)}`;
        const leak = answer instanceof TransportError ? undefined : leakIn(answer, sent, secrets);
        if (leak !== undefined) return leaks(name, leak);
      }
      for (const [name, answer] of part === 0 ? await ordinaryAnswers(world) : []) {
        const leak = leakIn(answer, addresses, secrets);
        if (leak !== undefined) return leaks(name, leak);
      }
      return pass;
    }),

  "service.content-type": observing([], async (world) => {
    const { answer: authorized, code } = await obtainCode(world);
    const exchanged = await world.target.exchange(exchangeBody(world.client, code));
    const tokens = await obtainTokens(world);
    const refreshed = await obtainRefreshed(world, tokens);
    const listed = await world.target.list({ accessToken: tokens.accessToken, query: { limit: 1 } });
    const refused = await world.target.exchange(exchangeBody(world.client, "nosuchcode"));
    const answers = { authorized, exchanged, refreshed: refreshed.answer, listed, refused };
    const plain = await answerOrRefusal(() => world.target.authorize({ headers: [] }));
    const requests: Record<string, unknown> = {
      "authorize without": outcomeOf(plain, await grantedBy(world, plain)),
      "list without": listOutcome(
        await answerOrRefusal(() =>
          world.target.list({ headers: [[accessTokenHeader, tokens.accessToken]], query: { limit: 1 } }),
        ),
      ),
    };
    for (const type of requestTypes)
      requests[`exchange ${type === undefined ? "without" : `as ${type}`}`] = await exchangeAs(world, type);
    return {
      answers: Object.fromEntries(
        Object.entries(answers).map(([name, answer]) => [name, mediaTypeOf(answer) ?? "none"]),
      ),
      requests,
    };
  }),
} satisfies Rules;

const leaks = (name: string, leak: string): CaseVerdict =>
  brokenBy(
    name,
    fail("answers hold no stack traces, secrets or internal paths", `the answer to ${name} holds ${leak}`),
  );

/** Parts of the malformed requests that are judged concurrently, each with its own control. */
const PARTS = 4;
/** What services most often fail on comes in four kinds that follow one another, so that every fourth request is of one. */
const QUICK_SHARE = 4;

interface Part {
  readonly part: number;
  readonly requests: readonly Malformed[];
  /** What they carry, to get past the first check. */
  readonly tokens: IssuedTokens;
  /** The tokens of the lists among them. */
  readonly reading: IssuedTokens;
}

/** Judges the malformed requests; at quick effort every fourth of them, selected by the seed. */
const forEachPart = (run: Run, judge: Judge<Part>): Promise<Verdict> =>
  run.forEach(
    Array.from({ length: PARTS }, (_, part) => part),
    async (part, world) => {
      const tokens = await obtainTokens(world);
      // Requests for tokens present a used code again, which may revoke what it gave.
      const reading = await obtainTokens(world);
      const { client } = world;
      const right = {
        ...client,
        ...tokens,
        accessToken: reading.accessToken,
        clientId: client.id,
        clientSecret: client.secret,
      };
      const requests = malformedRequests(right)
        .filter((_, n) => run.effort !== "quick" || (n + (run.seed >>> 0)) % QUICK_SHARE === 0)
        .filter((_, n) => n % PARTS === part);
      const judgement = await judge({ part, requests, tokens, reading }, world);
      if (judgement.kind === "passed")
        await mustOpen(world, reading.accessToken, "after the malformed input, the accessToken of its lists");
      return judgement;
    },
    { replays: 1, print: (part) => `part ${part + 1} of the malformed requests` },
  );

/** Whether the whole flow works. */
const serves = async (world: World): Promise<boolean> =>
  opens(world, (await obtainTokens(world)).accessToken);

/** Shorter ones may be ordinary words, which any message may contain. */
const LEAST_SECRET_LENGTH = 12;

type Named = readonly (readonly [name: string, value: string])[];

/** What answers of this case must not contain: some of it never, tokens unless the request carried one of their credentials. */
interface Secrets {
  readonly always: Named;
  readonly tokens: Named;
  readonly credentials: readonly string[];
}

const secretsIn = (world: World, sets: readonly IssuedTokens[]): Secrets => {
  const long = (values: Named): Named => values.filter(([, value]) => value.length >= LEAST_SECRET_LENGTH);
  return {
    always: long([
      ["the client's secret", world.client.secret],
      ["another client's secret", world.secondClient?.secret ?? ""],
    ]),
    tokens: long(
      sets.flatMap(({ accessToken, refreshToken }) => [
        ["an access token", accessToken] as const,
        ["a refresh token", refreshToken] as const,
      ]),
    ),
    credentials: sets.flatMap(({ accessToken, refreshToken, code }) => [accessToken, refreshToken, code]),
  };
};

/**
 * What an answer reveals: a secret, a stack trace, a path, a message of a database. Tokens may appear in the answer to
 * a request that carries a related credential.
 */
const leakIn = (answer: Answer, sent: string, secrets: Secrets): string | undefined => {
  const text = readable(answer);
  const isEntitled = secrets.credentials.some((credential) => sent.includes(credential));
  const found = [...secrets.always, ...(isEntitled ? [] : secrets.tokens)].find(([, value]) =>
    text.includes(value),
  );
  if (found !== undefined) return found[0];
  const platform = stackTraceIn(answer);
  return platform === undefined ? internalsIn(text, sent) : `a stack trace of ${platform}`;
};

const textOf = ({ target }: World, { path, headers, body = "" }: Request): string =>
  [`${target.basePath}${path}`, ...headers.map(([, value]) => value), body].join("\n");

/** The documented addresses below the base path, which answers may name: a service may well live under /app or /srv. */
const addressesOf = ({ target }: World): string =>
  Object.values(endpoints)
    .map(({ path }) => `${target.basePath}${path}`)
    .join("\n");

/** Valid requests and common refusals. */
const ordinaryAnswers = async (
  world: World,
): Promise<readonly (readonly [name: string, answer: Answer])[]> => {
  const { target, client } = world;
  const { answer: authorized, code } = await obtainCode(world);
  const body = exchangeBody(client, code);
  return [
    ["a right authorize request", authorized],
    ["an exchange with a wrong secret", await target.exchange({ ...body, clientSecret: "nosuchsecret" })],
    ["an exchange with an unknown code", await target.exchange({ ...body, code: "nosuchcode" })],
    ["an exchange by an unknown client", await target.exchange({ ...body, clientId: "nosuchclient" })],
    ["an exchange", await target.exchange(body)],
    ["an exchange with a used code", await target.exchange(body)],
    [
      "a refresh with an unknown token",
      await target.refresh({ clientId: client.id, refreshToken: "nosuchtoken" }),
    ],
    ["a list without a token", await target.list({})],
    ["a list with an unknown token", await target.list({ accessToken: "nosuchtoken" })],
  ];
};

const requestTypes = [
  undefined,
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=utf-8",
  "APPLICATION/JSON",
  "application/vnd.api+json",
] as const;

const exchangeAs = async (world: World, type: string | undefined): Promise<unknown> => {
  const { code } = await obtainCode(world);
  const headers: Request["headers"] = type === undefined ? [] : [["content-type", type]];
  const body = JSON.stringify(exchangeBody(world.client, code));
  const answer = await answerOrRefusal(() =>
    world.target.send({ method: "POST", path: endpoints.exchange.path, headers, body }),
  );
  return outcomeOf(answer, await grantedBy(world, answer));
};

const listOutcome = (answer: Answer | undefined): unknown =>
  answer === undefined
    ? { outcome: "hang-up" }
    : { outcome: gaveData(answer) ? "granted" : "refused", status: answer.status };

const grantedBy = async (world: World, answer: Answer | undefined): Promise<boolean> =>
  (await yielded(world, answer)) !== undefined || yieldedCode(world, answer);
