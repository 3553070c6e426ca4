import type { ClientIndex } from "../checks/client-assignment.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { asExchange } from "../pushes/evidence.ts";
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
