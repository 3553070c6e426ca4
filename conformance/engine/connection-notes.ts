import { duration } from "../contract/duration.ts";
import type { RuleResult } from "../contract/record.ts";
import { repeatedIn } from "../checks/context.ts";
import { keyOfHook } from "../world/hooks/hooks.ts";
import type { HookReport } from "../world/hooks/hook-caller.ts";
import type { ConnectionReport } from "../world/http/connection-health.ts";
import { counted } from "../contract/text.ts";

/** What a reader should know about the connection to the target; empty if there were no problems. */
export const connectionNotes = (
  report: ConnectionReport,
  results: readonly RuleResult[],
): readonly string[] => {
  const repeated = results.reduce((sum, { verdict }) => sum + repeatedIn(verdict), 0);
  const { throttled, longestThrottleMs, lost, hidden, sentAgain, outages, longestOutageMs, stayedAway } =
    report;
  const resent =
    sentAgain === 0
      ? "none was resent, because that could have changed something"
      : `${sentAgain} of them were resent, because that was harmless`;
  return [
    throttled > 0 &&
      `${counted(throttled, "answer")} asked to retry later, after up to ${duration(longestThrottleMs)}; each time the run waited and sent the request again`,
    lost > 0 && `${counted(lost, "request")} got no complete answer; ${resent}`,
    hidden > 0 &&
      `${counted(hidden, "request")} got 502 or 504, perhaps from a gateway; none was resent, because that could have changed something`,
    repeated > 0 &&
      `${counted(repeated, "case")} started over, because a request got no answer${hidden > 0 ? " or perhaps a gateway's" : ""}`,
    outages > 0 && `the target's address ${refused(outages, longestOutageMs)}`,
    stayedAway && "the target went down and did not come back in time",
  ].filter((note) => note !== false);
};

/** Hooks that take less time, absolute or relative to the run, are not mentioned. */
const NOTICED_MS = 5_000;
const NOTICED_SHARE = 1 / 3;

/** The same for the hooks, which may run elsewhere. */
export const hookNotes = ({ hooks, outages, elapsedMs }: HookReport): readonly string[] => [
  ...hooks
    // Calls of other hooks overlap, so the sum of their times means nothing.
    .filter(({ key }) => key === keyOfHook("clock.advance"))
    .filter(({ totalMs }) => totalMs >= NOTICED_MS && totalMs >= elapsedMs * NOTICED_SHARE)
    .map(
      ({ key, calls, totalMs, longestMs }) =>
        `${key} takes much of the time: ${counted(calls, "call")} took ${duration(totalMs)} of ${duration(elapsedMs)}, the longest ${duration(longestMs)}`,
    ),
  ...hooks
    .filter(({ lost, throttled, madeAgain }) => lost + throttled + madeAgain > 0)
    .map(({ key, lost, throttled, madeAgain }) => {
      const what = [
        ...(lost > 0 ? [`${counted(lost, "call")} got no complete answer`] : []),
        ...(throttled > 0
          ? [`${counted(throttled, "call")} ${throttled === 1 ? "was" : "were"} asked to retry later`]
          : []),
      ];
      return `${key}: ${what.join(", ") || "its gateway answered while the service was down"}; calls repeated, because that is harmless: ${madeAgain}`;
    }),
  ...outages.map(
    ({ host, outages: count, longestOutageMs, stayedAway }) =>
      `the hooks' address ${host} ${refused(count, longestOutageMs)}${stayedAway ? "; it did not come back in time" : ""}`,
  ),
];

const refused = (outages: number, longestMs: number): string =>
  `refused connections ${counted(outages, "time")}${longestMs > 0 ? `, for up to ${duration(longestMs)}, and the run waited` : ""}`;
