import Type, { Optional, type Static } from "typebox";
import { integer, number, text } from "./schema.ts";
import { duration } from "./duration.ts";
import { counted } from "./text.ts";

const Credentials = Type.Object({
  issued: Type.Integer(),
  valid: integer("Not used up, and not known to have expired by the end of the run."),
  lastEndsAt: Optional(
    text("The latest expiry of any of them, by the service's clock.", { format: "date-time" }),
  ),
  lastEndsInMs: Optional(number("The same, in milliseconds of the service's time after the run's end.")),
});

const NotificationName = Type.Object({ accountId: Type.String(), id: Optional(Type.String()) });

const HookOutcome = Type.Object({
  ok: Type.Boolean(),
  problem: Optional(text("Why the hook failed.")),
});

/** What a run created on its target and could not undo; the document has no call that revokes or removes. */
export const LeftBehind = Type.Object(
  {
    codes: Credentials,
    accessTokens: Credentials,
    refreshTokens: Credentials,
    notifications: Type.Object({
      created: Type.Integer(),
      unsure: integer("Calls of the hook that got no answer and may each have created one more."),
      accounts: integer("Accounts that these belong to."),
      first: Optional(NotificationName),
      last: Optional(NotificationName),
    }),
    callback: Optional(
      Type.Object(
        {
          url: text("The address that the service was last told to push to."),
          restore: Optional(HookOutcome),
          isAttached: Type.Boolean({
            description: "Whether the receiver there outlives the run.",
          }),
        },
        { description: "Where the service was told to push; absent if it was not told." },
      ),
    ),
    cleanup: Optional(HookOutcome),
  },
  { description: "What the run left behind on its target." },
);
export type LeftBehind = Static<typeof LeftBehind>;

type Credentials = LeftBehind["codes"];

const endOf = ({ lastEndsAt, lastEndsInMs }: Credentials): string =>
  lastEndsAt !== undefined
    ? `until ${lastEndsAt.slice(0, 16).replace("T", " ")} UTC at the latest, by the service's clock`
    : lastEndsInMs === undefined
      ? "for an unknown time"
      : `for ${duration(Math.ceil(lastEndsInMs / 1_000) * 1_000)} more of the service's time at the latest`;

const credentialSentence = (what: string, credentials: Credentials): string | undefined =>
  credentials.valid === 0
    ? undefined
    : `${counted(credentials.valid, what)} of ${credentials.issued} issued: valid ${endOf(credentials)}`;

const nameOf = ({ accountId, id }: Static<typeof NotificationName>): string =>
  id === undefined ? `one of account ${accountId}` : `${id} of account ${accountId}`;

const notificationSentence = ({ created, accounts, first, last }: LeftBehind["notifications"]) => {
  if (created === 0 || first === undefined || last === undefined) return undefined;
  const names = created === 1 ? nameOf(first) : `the first ${nameOf(first)}, the last ${nameOf(last)}`;
  return `${counted(created, "notification")} in ${counted(accounts, "account")}: ${names}`;
};

/** Whether the service pushes where it did before the run. */
const pushesAsBefore = ({ callback }: LeftBehind): boolean =>
  callback === undefined || callback.restore?.ok === true;

const callbackSentence = (left: LeftBehind): string | undefined => {
  const { callback } = left;
  if (callback === undefined || pushesAsBefore(left)) return undefined;
  const fate = callback.isAttached
    ? "where the attached receiver is"
    : "the address of the run's receiver, which no longer listens";
  const restoring =
    callback.restore === undefined
      ? " (`hooks.callback.restore` can put the former address back)"
      : `; ${callback.restore.problem ?? "hooks.callback.restore failed"}`;
  return `the callback address is still ${callback.url}, ${fate}${restoring}`;
};

const cleanupSentence = ({ ok, problem }: NonNullable<LeftBehind["cleanup"]>): string =>
  ok
    ? "hooks.cleanup got the list and succeeded; what it removed is still counted above"
    : (problem ?? "hooks.cleanup failed");

/** Everything left on the target, one sentence each; empty if there is nothing. */
export const leftBehindSentences = (left: LeftBehind): readonly string[] => {
  const { unsure } = left.notifications;
  return [
    credentialSentence("unused code", left.codes),
    credentialSentence("access token", left.accessTokens),
    credentialSentence("refresh token", left.refreshTokens),
    notificationSentence(left.notifications),
    unsure === 0
      ? undefined
      : `${counted(unsure, "call")} of hooks.events.trigger got no answer and may each have created one more`,
    callbackSentence(left),
    left.cleanup && cleanupSentence(left.cleanup),
  ].filter((sentence) => sentence !== undefined);
};

/** The same in one line; undefined if nothing is left. */
export const leftBehindLine = (left: LeftBehind): string | undefined => {
  const counts: Readonly<Record<string, number>> = {
    code: left.codes.valid,
    "access token": left.accessTokens.valid,
    "refresh token": left.refreshTokens.valid,
    notification: left.notifications.created,
  };
  const parts = Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : [counted(count, what)],
  );
  if (!pushesAsBefore(left)) parts.push("the callback address");
  return parts.length === 0 ? undefined : parts.join(", ");
};
