import { mistaken, type Check, skipped } from "../contract/check.ts";
import { documentedPath } from "../contract/forms.ts";
import { grantOf, TransportError, type Answer, describeBriefly } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import type { Session } from "./session.ts";
import { duration } from "../contract/duration.ts";
import { stopwatch, type Clock } from "../world/clock.ts";
import { HookError } from "../world/hooks/hooks.ts";

/** Whether something that speaks HTTP and looks like the service answers at the base address. */
export const checkReach = async (session: Session, world: World): Promise<Check> => {
  const { baseUrl } = session.resolved.profile;
  const check = "base address";
  try {
    const listed = await world.target.list({});
    // Behind a hook, authorize itself is rightly a web page.
    const isHooked = session.resolved.profile.authorize?.code !== undefined;
    const authorized = isHooked ? listed : await world.target.authorize();
    if (isHtml(authorized) && isHtml(listed) && grantOf(authorized) === undefined)
      return mistaken(
        check,
        `${baseUrl} answers the documented paths with web pages (${describeBriefly(authorized)})`,
        "check baseUrl: it is the part before /open-api/ of the service's addresses; if authorize shows a consent page, add what gets past it under `authorize`",
      );
    if (
      documentedPath.test(new URL(baseUrl).pathname) &&
      [listed, authorized].every(({ status }) => status === 404)
    )
      return mistaken(
        check,
        `${baseUrl} answers 404 to the documented paths, which already begin with /open-api`,
        `set baseUrl to the part before it: ${baseUrl.replace(documentedPath, "")}`,
      );
    return { check, ok: true, message: `${baseUrl} answers` };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    return {
      check,
      ok: false,
      message: `${baseUrl} cannot be reached: ${whyUnreachable(error)} (${error.message.replaceAll(/\s+/g, " ")})`,
      remedy: remedyFor(error, baseUrl),
      fatal: "unreachable",
    };
  }
};

const nameCertificate =
  "if the service requires a client certificate, name one that it accepts under `network.clientCertificate`";

/** Ways in which the service itself is never reached: how each shows, what it is, and what to do. */
const obstacles: readonly (readonly [shows: RegExp, what: string, remedy: string])[] = [
  [
    /ENOTFOUND|EAI_AGAIN/,
    "its name cannot be resolved",
    "correct baseUrl in the profile, or give the name an address under `network.resolve`",
  ],
  [
    /EPROXY/,
    "the proxy does not let the request through",
    "check `network.proxy.url`, or name the host under `network.proxy.except`",
  ],
  [
    /ERR_TLS_CERT_ALTNAME/,
    "its certificate is for another name",
    "correct baseUrl in the profile: the certificate must contain the name",
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_(HAS_EXPIRED|NOT_YET_VALID|UNTRUSTED)/,
    "its certificate is not trusted",
    "name the authority that signed it under `network.caFile`; certificate checks cannot be turned off",
  ],
  [
    /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long/,
    "the port does not speak TLS",
    "use http:// in baseUrl, or the port that speaks https",
  ],
  [
    /NO_APPLICATION_PROTOCOL|Expected HTTP\//,
    "it does not speak HTTP/1.1",
    "if it speaks HTTP/2 alone, let it speak HTTP/1.1 too; otherwise correct baseUrl in the profile",
  ],
  [/ALERT|CERTIFICATE_REQUIRED|HANDSHAKE/i, "the TLS handshake fails", nameCertificate],
];

const obstacleOf = ({ message }: TransportError) => obstacles.find(([shows]) => shows.test(message));

const whyUnreachable = (error: TransportError): string => obstacleOf(error)?.[1] ?? unreachable[error.reason];

const remedyFor = (error: TransportError, baseUrl: string): string =>
  obstacleOf(error)?.[2] ??
  (error.reason === "closed"
    ? `${baseUrl.startsWith("http:") ? "if that port speaks https, use https:// in baseUrl" : nameCertificate}; otherwise start the service, or correct baseUrl`
    : "start the service, or correct baseUrl in the profile");

/** Why a request got no answer, in words. */
export const unreachable: Record<TransportError["reason"], string> = {
  refused: "nothing listens there",
  closed: "it closes connections without an answer",
  timeout: "it gives no answer in time",
  throttled: "it keeps asking to retry later",
  locked: "it locks clients out",
  "own-limit": "this machine lets Touchstone open no more connections",
  "too-large": "its answer is too large",
  protocol: "the answer is not valid HTTP, or the certificate is not trusted",
};

const isHtml = (answer: Answer): boolean =>
  /html/i.test(answer.headers.find(([name]) => name === "content-type")?.[1] ?? "") ||
  /^\s*<(!doctype|html)/i.test(answer.text);

const CHECK = "hooks.clock.advance";
const PROBE_ADVANCE_MS = 2_000;
/** A hook slower than this makes a gate take minutes. */
const SLOW_MS = 300;
/** Approximate number of clock moves in a gate. */
const MOVES = 140;

/** Checks that the clock hooks read and move a clock, by moving it two seconds. */
export const checkClock = async (session: Session, clock: Clock): Promise<Check[]> => {
  const hooks = session.resolved.profile.hooks?.clock;
  if (hooks?.faketime !== undefined) return [];
  if (hooks?.advance === undefined)
    return [
      skipped(
        CHECK,
        "not in the profile: lifetimes are waited for in real time, and rules that take too long are not judged",
        "add `hooks.clock.advance` (and `hooks.clock.now`) if the target's clock can be moved, or `hooks.clock.faketime` if the service runs under libfaketime",
      ),
    ];
  try {
    const before = await clock.now();
    const elapsedMs = stopwatch();
    await clock.sleep(PROBE_ADVANCE_MS);
    const tookMs = elapsedMs();
    const after = await clock.now();
    const asked = duration(PROBE_ADVANCE_MS);
    const moved = `moved the target's clock by ${duration(after.latestMs - before.earliestMs)} when asked for ${asked}`;
    const cost =
      tookMs < SLOW_MS ? "" : `, which took ${duration(tookMs)}: a gate does so about ${MOVES} times`;
    const message = `${hooks.now === undefined ? `answered when asked to move the clock by ${asked}` : moved}${cost}`;
    return [
      { check: CHECK, ok: true, message },
      hooks.now === undefined
        ? skipped(
            "hooks.clock.now",
            "not in the profile: the target's time is estimated from what was advanced, and intervals are wider",
            "add `hooks.clock.now`",
          )
        : { check: "hooks.clock.now", ok: true, message: "returns the target's time" },
    ];
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return [failedHook(error)];
  }
};

export const failedHook = ({ key, message, end }: HookError): Check =>
  mistaken(
    key,
    message.replace(`${key}: `, ""),
    end?.kind === "lost" && end.reason === "timeout"
      ? `if it is only slow, give it more time: \`timeoutMs\` of the hook, in milliseconds; otherwise call it by hand and see what it waits for`
      : key === "hooks.clock.faketime"
        ? "then start the run again"
        : "call the hook by hand and compare; or leave it out of the profile",
  );
