import type { ResolvedProfile } from "../profile/profile.ts";
import { createEvents, type Events } from "../world/hooks/events.ts";
import { HookError, resultOf } from "../world/hooks/hooks.ts";
import type { Connections } from "./connections.ts";

/** Creates notifications through the profile's hook, and keeps account of them; undefined where it has none. */
export const eventsOf = (
  resolved: ResolvedProfile,
  freshUuid: () => string,
  { callHook, account }: Pick<Connections, "callHook" | "account">,
): Events | undefined => {
  const trigger = resolved.profile.hooks?.events?.trigger;
  if (trigger === undefined) return undefined;
  return createEvents({
    accounts: resolved.profile.accounts,
    freshUuid,
    runHook: async (values) => {
      const answer = await callHook("events.trigger", trigger, { ...values }).catch((error: unknown) => {
        if (mayHaveBeenObeyed(error)) account.maybeCreated();
        throw error;
      });
      const told = resultOf(answer, trigger.result, ["/id", "/notificationId", "/data/id"]);
      const id = typeof told === "string" && told !== "" ? told : undefined;
      account.created(values.accountId, id);
      return id;
    },
    clientId: resolved.clients[0]?.id ?? "",
  });
};

/** A call whose answer is lost may have done its work all the same; one that was not accepted has not. */
const mayHaveBeenObeyed = (error: unknown): boolean =>
  error instanceof HookError && error.end?.kind === "lost" && error.end.reason !== "refused";
