import { credentialsOf, describe, grantOf } from "./answers.ts";
import { checkCallback } from "./callback-check.ts";
import { shorten } from "./text.ts";
import type { Check } from "./contract/check.ts";
import { duration } from "./contract/duration.ts";
import { emptyPrepared, type Prepared, type Session } from "./session.ts";
import { exchangeBody, gaveData, obtainTokens } from "./steps.ts";
import type { Clock } from "./world/clock.ts";
import { prepareNotifications } from "./world/dataset.ts";
import { EventHookFailed } from "./world/events.ts";
import { ControlFailed, TransportError, type Answer } from "./world/exchange.ts";
import { HookError } from "./world/hooks.ts";
import { newScope } from "./world/journal.ts";
import type { Client } from "./world/target.ts";
import type { World } from "./world/world.ts";

export interface Preflight {
  readonly checks: readonly Check[];
  readonly prepared: Prepared;
}

export interface PreflightOptions {
  /** Whether notifications are to be prepared, for rules that read them. */
  readonly notifications: boolean;
  /** Whether pushes are to be watched, for rules that judge them. */
  readonly pushes?: boolean;
}

/**
 * Looks at everything that a run rests on before any rule does: the address, each client, each
 * hook, the notifications to read. Tells a mistake of the profile from a breach of the service: what
 * may be either is left to the rules.
 */
export const preflight = async (session: Session, options: PreflightOptions): Promise<Preflight> => {
  const clock = session.clocks.join();
  try {
    const { checks, prepared } = await examine(
      session,
      session.world(newScope("preflight"), clock, emptyPrepared),
      clock,
      options,
    );
    // Messages quote answers, and these may hold credentials.
    const masked = checks.map((check) => ({ ...check, message: session.secrets.mask(check.message) }));
    return { checks: masked, prepared };
  } catch (error) {
    // Whatever is asked of the target may have to wait on its clock.
    if (!(error instanceof HookError)) throw error;
    return { checks: [failedHook(error)], prepared: emptyPrepared };
  } finally {
    clock.leave();
  }
};

const examine = async (
  session: Session,
  world: World,
  clock: Clock,
  options: PreflightOptions,
): Promise<Preflight> => {
  const checks: Check[] = [];
  const reach = await checkReach(session, world);
  checks.push(reach);
  if (reach.fatal !== undefined) return { checks, prepared: emptyPrepared };

  checks.push(...(await checkClock(session, clock)));
  let accessLifetimeMs = 0;
  for (const [index, client] of session.resolved.clients.entries()) {
    const { check, lifetimeMs } = await anew(() => checkClient(world, client, index)).catch(
      (error: unknown) => {
        if (!(error instanceof TransportError)) throw error;
        const message = `the flow of client "${client.id}" broke off: ${unreachable[error.reason]} (${error.message})`;
        return { check: { check: `clients[${index}]`, ok: false as const, message }, lifetimeMs: undefined };
      },
    );
    checks.push(check);
    if (index === 0) accessLifetimeMs = lifetimeMs ?? 0;
  }
  if (session.resolved.clients.length === 1)
    checks.push({
      check: "clients[1]",
      ok: "skipped",
      message: "no second client: rules that compare two clients will not run",
      remedy: "add a second entry to `clients`",
    });
  if (checks.some(({ fatal }) => fatal !== undefined)) return { checks, prepared: emptyPrepared };

  const isFar = session.transport.road.roundTripMs() >= FAR_MS;
  let prepared: Prepared = { ...emptyPrepared, accessLifetimeMs, isFar };
  if (options.notifications) {
    const { check, notifications } = await checkNotifications(session, world);
    checks.push(check);
    prepared = { ...prepared, notifications };
  }
  // Last, so that what was created for readers is not pushed as well.
  if (options.pushes === true && !checks.some(({ fatal }) => fatal !== undefined)) {
    const callback = await checkCallback(session, clock);
    checks.push(...callback.checks);
    prepared = { ...prepared, ...callback.prepared };
  }
  return { checks, prepared };
};

/** From this round trip on, in milliseconds, most of a request's time is the road's, and not the service's or ours. */
const FAR_MS = 50;

const MOST_TRIES = 3;

/** Does it again from the beginning where an answer was lost on the way: a code may have been used up by then. */
const anew = async <T>(check: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await check();
    } catch (error) {
      const isLost = error instanceof TransportError && error.reason === "closed";
      if (!isLost || tries === MOST_TRIES) throw error;
    }
  }
};

/** Whether anything that speaks HTTP and looks like the service answers at the base address. */
const checkReach = async (session: Session, world: World): Promise<Check> => {
  const { baseUrl } = session.resolved.profile;
  const check = "base address";
  try {
    const listed = await world.target.list({});
    // Behind a hook authorize itself is a web page, and rightly so.
    const isHooked = session.resolved.profile.authorize?.code !== undefined;
    const authorized = isHooked ? listed : await world.target.authorize();
    if (isHtml(authorized) && isHtml(listed) && grantOf(authorized) === undefined)
      return {
        check,
        ok: false,
        message: `${baseUrl} answers the documented paths with web pages (${describeBriefly(authorized)})`,
        remedy:
          "check baseUrl: it is what stands before /open-api/ in the service's addresses; where authorize shows a consent page, add what gets past it under `authorize`",
        fatal: "configuration",
      };
    return { check, ok: true, message: `${baseUrl} answers` };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return {
      check,
      ok: false,
      message: `${baseUrl} cannot be reached: ${whyUnreachable(error)} (${error.message})`,
      remedy: remedyFor(error),
      fatal: "unreachable",
    };
  }
};

/** Ways on which the service itself is never reached: how each shows, what it is, and what to do. */
const obstacles: readonly (readonly [shows: RegExp, what: string, remedy: string])[] = [
  [
    /ENOTFOUND|EAI_AGAIN/,
    "its name cannot be resolved",
    "correct baseUrl in the profile, or give the name an address under `network.resolve`",
  ],
  [
    /EPROXY/,
    "the proxy is in the way",
    "check `network.proxy.url`, or name the host under `network.proxy.except`",
  ],
  [
    /ERR_TLS_CERT_ALTNAME/,
    "its certificate is for another name",
    "correct baseUrl in the profile: the name must be one that the certificate holds",
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_(HAS_EXPIRED|NOT_YET_VALID|UNTRUSTED)/,
    "its certificate is not trusted",
    "name the authority that signed it under `network.caFile`; there is no way to leave certificates unverified",
  ],
  [
    /ALERT|CERTIFICATE_REQUIRED|HANDSHAKE/i,
    "the TLS handshake fails",
    "where the service asks for a client certificate, name it under `network.clientCertificate`",
  ],
];

const obstacleOf = ({ message }: TransportError) => obstacles.find(([shows]) => shows.test(message));

const whyUnreachable = (error: TransportError): string => obstacleOf(error)?.[1] ?? unreachable[error.reason];

const remedyFor = (error: TransportError): string =>
  obstacleOf(error)?.[2] ?? "start the service, or correct baseUrl in the profile";

const unreachable: Record<TransportError["reason"], string> = {
  refused: "nothing listens there",
  closed: "it closes connections without an answer",
  timeout: "it gives no answer in time",
  throttled: "it says again and again to come back later",
  "too-large": "its answer has no end",
  protocol: "what answers does not speak HTTP as it should, or shows a certificate that is not trusted",
};

const isHtml = (answer: Answer): boolean =>
  /html/i.test(answer.headers.find(([name]) => name === "content-type")?.[1] ?? "") ||
  /^\s*<(!doctype|html)/i.test(answer.text);

const describeBriefly = (answer: Answer): string => shorten(describe(answer).replaceAll(/\s+/g, " "), 90);

/** Runs the flow for one client, and where it fails compares the answer with those that a wrong client gets. */
const checkClient = async (
  world: World,
  client: Client,
  index: number,
): Promise<{ check: Check; lifetimeMs?: number }> => {
  const check = `clients[${index}]`;
  const authorized = await world.target.authorize({ client });
  const grant = grantOf(authorized);
  if (grant === undefined) {
    const stranger = await world.target.authorize({
      client: { ...client, id: `${world.unique()}${world.unique()}` },
    });
    if (await isUnserved(world, authorized))
      return {
        check: {
          check,
          ok: false,
          message: `authorize is not served at its documented path: ${describeBriefly(authorized)}`,
        },
      };
    return {
      check: alike(authorized, stranger)
        ? {
            check,
            ok: false,
            message: `authorize answers to client "${client.id}" as to one that does not exist: ${describeBriefly(authorized)}`,
            remedy: `check clients[${index}].id and clients[${index}].redirectUri; where a consent page is in the way, use \`authorize\``,
            fatal: "configuration",
          }
        : { check, ok: false, message: `authorize gave no code: ${describeBriefly(authorized)}` },
    };
  }
  const answer = await world.target.exchange(exchangeBody(client, grant.code));
  const { accessToken, expiresIn } = credentialsOf(answer);
  if (accessToken === undefined) {
    const again = grantOf(await world.target.authorize({ client }));
    const wrong = await world.target.exchange({
      ...exchangeBody(client, again?.code ?? ""),
      clientSecret: `${world.unique()}${world.unique()}`,
    });
    return {
      check: alike(answer, wrong)
        ? {
            check,
            ok: false,
            message: `the exchange answers to the secret of client "${client.id}" as to a wrong one: ${describeBriefly(answer)}`,
            remedy: `check where clients[${index}].secret points to, and clients[${index}].id`,
            fatal: "configuration",
          }
        : { check, ok: false, message: `a right exchange gave no accessToken: ${describeBriefly(answer)}` },
    };
  }
  const listed = await world.target.list({ accessToken });
  return {
    check: {
      check,
      ok: gaveData(listed),
      message: gaveData(listed)
        ? `authorize, access-token and notifications answer to client "${client.id}"`
        : `the accessToken opens no notification list: ${describeBriefly(listed)}`,
    },
    ...(Number(expiresIn) > 0 ? { lifetimeMs: Number(expiresIn) * 1_000 } : {}),
  };
};

/** Whether the authorize path is as unknown to the service as an invented one, while the list is served: then it is the service that lacks it. */
const isUnserved = async (world: World, authorized: Answer): Promise<boolean> => {
  if (authorized.status !== 404) return false;
  const invented = await world.target.send({
    method: "GET",
    path: `/open-api/${world.unique()}`,
    headers: [],
  });
  const listed = await world.target.list({});
  return invented.status === 404 && listed.status !== 404;
};

/** Two refusals that differ in nothing but numbers and times. */
const alike = (a: Answer, b: Answer): boolean =>
  a.status === b.status && skeleton(a.text) === skeleton(b.text);
const skeleton = (text: string): string => text.replaceAll(/[A-Za-z0-9_.:-]*\d[A-Za-z0-9_.:-]*/g, "#");

const PROBE_ADVANCE_MS = 2_000;

/** Whether the clock hooks read and move a clock, by moving it two seconds. */
const checkClock = async (session: Session, clock: Clock): Promise<Check[]> => {
  const hooks = session.resolved.profile.hooks?.clock;
  if (hooks?.advance === undefined)
    return [
      {
        check: "hooks.clock.advance",
        ok: "skipped",
        message:
          "not in the profile: lifetimes are waited for in real time, and what takes too long is not judged",
        remedy: "add `hooks.clock.advance` (and `hooks.clock.now`) where the target's clock can be moved",
      },
    ];
  try {
    const before = await clock.now();
    await clock.sleep(PROBE_ADVANCE_MS);
    const after = await clock.now();
    const movedMs = after.latestMs - before.earliestMs;
    return [
      {
        check: "hooks.clock.advance",
        ok: true,
        message: `moved the target's clock by ${duration(movedMs)} when asked for ${duration(PROBE_ADVANCE_MS)}`,
      },
      hooks.now === undefined
        ? {
            check: "hooks.clock.now",
            ok: "skipped",
            message:
              "not in the profile: the target's time is reckoned from what was advanced, and brackets are wider",
            remedy: "add `hooks.clock.now`",
          }
        : { check: "hooks.clock.now", ok: true, message: "tells the target's time" },
    ];
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return [failedHook(error)];
  }
};

const failedHook = (error: HookError): Check => ({
  check: error.key,
  ok: false,
  message: error.message,
  remedy: "call the hook by hand and compare; or leave it out of the profile",
  fatal: "configuration",
});

/** Makes or finds the notifications that rules read. Where the list itself is at fault, the rules will say so. */
const checkNotifications = async (
  session: Session,
  world: World,
): Promise<{ check: Check; notifications: Prepared["notifications"] }> => {
  const check = session.events === undefined ? "notifications" : "hooks.events.trigger";
  try {
    const { sets, notes } = await prepareNotifications({
      target: world.target,
      clock: world.clock,
      events: session.events,
      limits: world.limits,
      tolerances: world.tolerances,
      accessToken: async () => (await obtainTokens(world)).accessToken,
      freshUuid: session.freshUuid,
    });
    const count = sets.accounts.reduce((sum, { ids }) => sum + ids.length, 0);
    return {
      notifications: sets,
      check: {
        check,
        ok: count > 0,
        message: [
          `${count} notifications in ${sets.accounts.length} accounts are there to be read`,
          ...notes,
        ].join("; "),
        ...(session.events === undefined
          ? { remedy: "add `hooks.events.trigger` for rules that need notifications of their own" }
          : {}),
      },
    };
  } catch (error) {
    const notifications = emptyPrepared.notifications;
    if (error instanceof EventHookFailed)
      return {
        notifications,
        check: {
          check,
          ok: false,
          message: error.message,
          remedy:
            "call the hook by hand and compare; `accounts` in the profile names the accounts that it may be called for",
          fatal: "configuration",
        },
      };
    if (error instanceof ControlFailed || error instanceof TransportError)
      return { notifications, check: { check, ok: false, message: error.message } };
    throw error;
  }
};
