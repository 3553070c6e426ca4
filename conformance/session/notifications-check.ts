import { mistaken, type Check } from "../contract/check.ts";
import { prepareNotifications } from "../world/dataset.ts";
import { EventHookFailed, isLostEvent } from "../world/hooks/events.ts";
import { beginAnewAfter } from "../world/http/retry.ts";
import { ControlFailed, TransportError } from "../world/exchange.ts";
import { obtainTokens } from "../world/steps.ts";
import { type World, emptyPrepared, type Prepared } from "../world/world.ts";
import type { Session } from "./session.ts";

/** Creates or finds the notifications that rules read. If the list itself is at fault, the rules report it. */
export const checkNotifications = async (
  session: Session,
  world: World,
): Promise<{ check: Check; notifications: Prepared["notifications"] }> => {
  const check = session.events === undefined ? "notifications" : "hooks.events.trigger";
  try {
    const { sets, notes } = await beginAnewAfter(isLostEvent, () =>
      prepareNotifications({
        target: world.target,
        clock: world.clock,
        events: session.events,
        limits: world.limits,
        tolerances: world.tolerances,
        accessToken: async () => (await obtainTokens(world)).accessToken,
        freshUuid: session.freshUuid,
        secondClientId: world.secondClient?.id,
      }),
    );
    const count = sets.accounts.reduce((sum, { ids }) => sum + ids.length, 0);
    return {
      notifications: sets,
      check: {
        check,
        ok: count > 0,
        message: [`${count} notifications in ${sets.accounts.length} accounts can be read`, ...notes].join(
          "; ",
        ),
        ...(session.events === undefined && {
          remedy: "add `hooks.events.trigger` for rules that create notifications",
        }),
      },
    };
  } catch (error) {
    const { notifications } = emptyPrepared;
    if (error instanceof EventHookFailed)
      return {
        notifications,
        check: mistaken(
          check,
          error.message.replace(`${check}: `, ""),
          "call the hook by hand and compare; `accounts` in the profile lists the accounts that it may be called for",
        ),
      };
    if (error instanceof ControlFailed || error instanceof TransportError)
      return { notifications, check: { check, ok: false, message: error.message } };
    throw error;
  }
};
