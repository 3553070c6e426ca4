import type { PushRun, SeenPush, PushCase } from "./trace.ts";

/** Requests to the callback's host that mention this notification but could not be matched to it as pushes. */
export const unmatchedOf = (pushCase: PushCase, { others, pushCases }: PushRun): readonly SeenPush[] => {
  const unclear = others.filter((push) => isUnclear(push) && !isRedirected(push));
  if (unclear.length === 0) return [];
  const names = namesOf(pushCase, pushCases);
  return unclear.filter((push) => {
    const text = `${push.line.body} ${push.line.path}`.toLowerCase();
    return names.some((name) => text.includes(name));
  });
};

/** Not a POST with JSON at the callback's path, or one whose body has no id where it should. */
const isUnclear = ({ line }: SeenPush): boolean =>
  line.action === "not-a-push" || (line.notificationId === undefined && line.accountId === undefined);

/** Whether the path is one that only the receiver's own redirects lead to. */
export const isRedirected = ({ line }: SeenPush): boolean => line.path.startsWith("/elsewhere/");

/** Everything a notification is known by: its ids, and its account if no other event shares it. */
const namesOf = (pushCase: PushCase, all: readonly PushCase[]): readonly string[] => {
  const account = pushCase.accountId.toLowerCase();
  const isAlone = !all.some((other) => other !== pushCase && other.accountId.toLowerCase() === account);
  const names = [
    pushCase.notificationId,
    pushCase.pushes[0]?.line.notificationId,
    isAlone ? account : undefined,
  ];
  return names.flatMap((name) => (name === undefined || name === "" ? [] : [name.toLowerCase()]));
};

/** "PUT /service/webhook". */
export const requestText = ({ line }: SeenPush): string => `${line.method} ${line.path}`;
