import type { ClientIndex } from "../checks/client-assignment.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import type { ExchangeRecord } from "../contract/record.ts";
import type { SeenPush } from "../judging/pushes/trace.ts";
import type { Clock } from "../world/clock.ts";
import { grantByHook } from "../world/hooks/hooks.ts";
import type { Journal, Scope } from "../world/evidence/journal.ts";
import { createTarget, encodeQuery, type TargetOptions } from "../world/target.ts";
import type { World, Prepared } from "../world/world.ts";
import type { Connections } from "./connections.ts";

/** What the worlds of all cases share. */
export interface WorldsOptions extends Pick<World, "limits" | "tolerances" | "events" | "secrets"> {
  readonly unique: () => string;
  readonly resolved: ResolvedProfile;
  readonly connections: Connections;
  readonly journal: Journal;
}

/** Makes the world of one case. With client index 1 the run's two clients change places. */
export const worldsOf = (options: WorldsOptions) => {
  const { limits, tolerances, events, secrets, unique, resolved, connections, journal } = options;
  const malformedTokenSets: World["evidence"]["malformedTokenSets"] = [];
  const { transport, clocks } = connections;
  const addressed = addressOf(resolved);
  return (scope: Scope, clock: Clock, prepared: Prepared, clientIndex: ClientIndex = 0): World => {
    const [client, secondClient] = clientsOf(resolved, clientIndex);
    return {
      limits,
      tolerances,
      events,
      secrets,
      client,
      secondClient,
      clock,
      prepared,
      target: createTarget(
        transport,
        { scope, clock },
        { ...addressed, client, unique, grantCode: grantCodeOf(options, scope) },
      ),
      evidence: {
        malformedTokenSets,
        exchanges: () => scope.exchanges.map(({ n }) => n),
        addPushes: (pushes) => {
          for (const push of pushes)
            journal.add(scope, asExchange(journal.nextNumber(), push, clocks.kind === "virtual"));
        },
        addExchanges: (exchanges) => void scope.exchanges.push(...exchanges),
        ignoreLoss: (exchange) => scope.losses.ignoreLoss(exchange),
        onCommit: (commit) => void scope.findings.push(commit),
      },
    };
  };
};

/** Common to all requests: the path of the base address, and the profile's headers. */
const addressOf = ({
  profile,
}: ResolvedProfile): Pick<TargetOptions, "basePath" | "headers" | "authorize"> => ({
  basePath: new URL(profile.baseUrl).pathname.replace(/\/+$/, ""),
  headers: Object.entries(profile.headers ?? {}),
  authorize: {
    headers: Object.entries(profile.authorize?.headers ?? {}),
    query: encodeQuery(profile.authorize?.query ?? {}),
  },
});

const clientsOf = (
  { clients }: ResolvedProfile,
  clientIndex: ClientIndex,
): readonly [World["client"], World["secondClient"]] => {
  const [first, second] = clients;
  if (first === undefined) throw new Error("a resolved profile has at least one client");
  return clientIndex === 1 && second !== undefined ? [second, first] : [first, second];
};

/** Gets codes through the profile's hook, if it has one for that. */
const grantCodeOf = (
  { resolved, connections, journal }: WorldsOptions,
  scope: Scope,
): TargetOptions["grantCode"] => {
  const hook = resolved.profile.authorize?.code;
  if (hook === undefined) return undefined;
  const { account, callHook } = connections;
  return async (asked) => {
    const run = () => callHook("authorize.code", hook, { ...asked });
    const { code, answer } = await grantByHook(hook, asked, run, { journal, scope });
    account.issuedCode(code);
    return answer;
  };
};

/**
 * A push as an exchange of the record: the request is the service's, the answer the receiver's. Times are the receiver's
 * own; if the target's clock is moved, that is given as well, as of the latest moment at which the push can have come:
 * what is due when the clock is moved comes after the move.
 */
export const asExchange = (
  n: number,
  { line, action, at }: SeenPush,
  isMoved: boolean,
): Omit<ExchangeRecord, "rule"> => {
  const endMs = line.answeredMs ?? line.completeMs;
  return {
    n,
    startedMs: line.firstByteMs,
    durationMs: Math.max(0, endMs - line.firstByteMs),
    ...(isMoved && Number.isFinite(at.latestMs) ? { clockMs: Math.round(at.latestMs) } : {}),
    isPush: true,
    request: { method: line.method, path: line.path, headers: line.headers, body: line.body },
    ...(line.status === undefined
      ? { error: howItEnded(line.action) }
      : { answer: { status: line.status, headers: [], text: bodyOf(action) } }),
  };
};

const howItEnded = (action: SeenPush["line"]["action"]): string =>
  ({
    answer: "the receiver's answer was cut off",
    hang: "the receiver gave no answer, as planned",
    close: "the receiver closed the connection, as planned",
    reset: "the receiver reset the connection, as planned",
    "not-a-push": "the receiver did not recognize it as a push",
    "too-large": "the request was too large for the receiver",
  })[action];

const bodyOf = (action: SeenPush["action"]): string => {
  if (action?.kind !== "answer") return "";
  const body = action.body ?? "acknowledge";
  if (body === "acknowledge") return "(the acknowledgement)";
  return typeof body === "string" ? `(${body})` : JSON.stringify(body);
};
