import { base64Forms, writtenForms } from "../contract/secret-forms.ts";
import { exchangeText } from "./exchange-bodies.ts";
import { attemptKinds, attemptWrongly, type AttemptKind } from "./shared/attempts.ts";
import { stackTraceIn, readable, tokenLike } from "./shared/leaks.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { kindOfBody } from "./shared/redirects.ts";
import {
  exchangeBody,
  obtainCode,
  obtainTokens,
  opens,
  present,
  refreshes,
  yielded,
} from "../world/steps.ts";
import { objectOf, type Answer } from "../world/exchange.ts";
import type { Client } from "../world/target.ts";
import { clientsOf, type World } from "../world/world.ts";

/** A refused exchange: what was sent, as strings that an answer may echo, and the answer. */
interface Refused {
  readonly sent: readonly string[];
  /** Tokens that the code had yielded before. */
  readonly earlier: readonly string[];
  readonly answer: Answer | undefined;
}

/** Makes the service refuse. Awaits `ready` right before the request to be refused. */
type Provoke = (world: World, ready: () => Promise<unknown>) => Promise<Refused>;

/** What was issued beforehand, or stands for that. */
interface Issued {
  readonly client: Client;
  readonly code: unknown;
  readonly earlier?: readonly string[];
}

const issueCode = (world: World) => obtainCode(world);

const provoking =
  <I extends Issued>(
    issue: (world: World) => Promise<I>,
    send: (world: World, issued: I) => Promise<Answer | undefined> = (world, { client, code }) =>
      present(world, client, code),
  ): Provoke =>
  async (world, ready) => {
    const issued = await issue(world);
    await ready();
    const codes = [issued.code].flat().map(String);
    const sent = [issued.client.id, ...codes, ...codes.map((code) => `${code}x`)];
    return { sent, earlier: issued.earlier ?? [], answer: await send(world, issued) };
  };

const attempted = (kind: AttemptKind): Provoke =>
  provoking(issueCode, (world, issued) => attemptWrongly(world, kind, issued));

const withCode = (code: (world: World) => unknown): Provoke =>
  provoking(async (world) => ({ client: world.client, code: await code(world) }));

const withText = (write: (right: Record<string, unknown>) => string): Provoke =>
  provoking(issueCode, (world, { client, code }) => exchangeText(world, write(exchangeBody(client, code))));

const usedCode = provoking(async (world) => {
  const { client, code, accessToken, refreshToken } = await obtainTokens(world);
  return { client, code, earlier: [accessToken, refreshToken] };
});

const pastTheCodeMs = ({ limits }: World): number => limits.codeLifetimeMs + 60_000;

/** Only on a virtual clock: otherwise it takes as long as a code lives. */
const expiredCode = provoking(async (world) => {
  const issued = await obtainCode(world);
  await world.clock.sleep(pastTheCodeMs(world), world.limits.codeLifetimeMs);
  return issued;
});

export const refusalsOf = (world: World): Readonly<Record<string, Provoke>> => ({
  ...Object.fromEntries(attemptKinds(world).map((kind) => [kind, attempted(kind)])),
  "a used code": usedCode,
  "an unknown code": withCode((caseWorld) => caseWorld.target.unique()),
  "an empty code": withCode(() => ""),
  "no code": withCode(() => undefined),
  "a code that is null": withCode(() => null),
  "a code that is a number": withCode(() => 12_345),
  "a code that is an object": withCode(() => ({})),
  "an access token as code": withCode(async (caseWorld) => (await obtainTokens(caseWorld)).accessToken),
  "no body": withText(() => ""),
  "an empty object": withText(() => "{}"),
  "an array": withText((right) => JSON.stringify([right])),
  "a JSON string": withText((right) => JSON.stringify(JSON.stringify(right))),
  "JSON cut short": withText((right) => JSON.stringify(right).slice(0, -1)),
  "no JSON": withText((right) => JSON.stringify(right).replaceAll('"', "'")),
});

/** What is refused only after a wait. */
export const lateRefusalsOf = (world: World): Readonly<Record<string, Provoke>> =>
  world.clock.kind === "virtual" && world.clock.canWait(pastTheCodeMs(world))
    ? { "an expired code": expiredCode }
    : {};

const expected = "a refusal carries no token, no secret and no stack trace";

/** A shorter secret may well be an ordinary word of the answer. */
const SHORTEST_SECRET = 8;

/** How many strings of one refusal are tried as credentials. */
const TRIED = 6;

/** Provokes a refusal and searches it for known credentials, for unknown ones that work, and for stack traces. */
export const leaksNothing = async (
  [, provoke]: readonly [string, Provoke],
  world: World,
): Promise<CaseVerdict> => {
  const bystander = await obtainTokens(world);
  let waiting = "";
  const refused = await provoke(world, async () => {
    // A waiting code that was issued last, because what a service leaks by mistake is often the latest.
    waiting = (await obtainCode(world)).code;
  });
  const { answer } = refused;
  if (answer === undefined) return pass;
  const platform = stackTraceIn(answer);
  if (platform !== undefined) return fail(expected, `it carries a stack trace of ${platform}`);
  const known =
    knownSecret(world, answer) ?? knownCredential(world, answer, refused, { ...bystander, waiting });
  if (known !== undefined) return fail(expected, `it carries ${known}`);
  // Tokens that nobody had before.
  if ((await yielded(world, answer)) !== undefined)
    return discard(
      "the service grants this request, so there is no refusal; other rules judge whether it may",
    );
  for (const candidate of tokenLike(answer, refused.sent).slice(0, TRIED)) {
    const use = await useOf(world, candidate);
    if (use !== undefined) return fail(expected, `it carries a string that works as ${use}`);
  }
  return pass;
};

const knownSecret = (world: World, answer: Answer): string | undefined => {
  const text = `${readable(answer)}\n${answer.text}`;
  const owner = clientsOf(world).find(
    ({ secret }) =>
      secret.length >= SHORTEST_SECRET &&
      [...writtenForms(secret), ...base64Forms(secret), Buffer.from(secret).toString("hex")].some((form) =>
        text.includes(form),
      ),
  );
  if (owner === undefined) return undefined;
  return owner === world.client ? "the client's secret" : "another client's secret";
};

const knownCredential = (
  world: World,
  answer: Answer,
  { sent, earlier }: Refused,
  others: { readonly accessToken: string; readonly refreshToken: string; readonly waiting: string },
): string | undefined => {
  const text = readable(answer);
  if (earlier.some((token) => text.includes(token))) return "a token that the code had yielded before";
  if ([others.accessToken, others.refreshToken].some((token) => text.includes(token)))
    return "a token of another grant";
  if (others.waiting !== "" && text.includes(others.waiting)) return "a code of another authorization";
  // Values of the answer's own token fields are known only from this answer; they count only if they work.
  const own = Object.values(objectOf(answer)).filter((value) => typeof value === "string");
  const label = world.secrets.find(tokenLike(answer, [...sent, ...own]).join(" "), [
    "access token",
    "refresh token",
    "code",
  ]);
  return label === undefined ? undefined : `a credential that the run knows from elsewhere (${label})`;
};

const useOf = async (world: World, candidate: string): Promise<string | undefined> => {
  if (await opens(world, candidate)) return "an access token";
  for (const client of clientsOf(world))
    if (await refreshes(world, client, candidate)) return "a refresh token";
  const exchanged = await world.target.exchange(exchangeBody(world.client, candidate));
  return (await yielded(world, exchanged)) === undefined ? undefined : "a code";
};

/** The stable characteristics of a refusal. */
export const lookOf = (answer: Answer | undefined): unknown =>
  answer === undefined
    ? "no answer"
    : { status: answer.status, body: kindOfBody(answer), fields: Object.keys(objectOf(answer)).toSorted() };
