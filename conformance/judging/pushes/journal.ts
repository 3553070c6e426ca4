import type { PushLine } from "../../contract/push.ts";
import type { TimeInterval } from "../interval.ts";
import type { LostConnection, SeenPush } from "./trace.ts";

/** Whether a push was left unanswered and its sender still waits on it. */
export const hangs = ({ action, outcome }: SeenPush["line"]): boolean =>
  action === "hang" && outcome === undefined;

/** The pushes of a journal in its order, each with the end that a later line reports. */
export const pushesIn = (lines: readonly PushLine[]): readonly SeenPush["line"][] => {
  const ends = new Map(
    lines.flatMap((line) =>
      line.kind === "answered" ? [[`${line.epoch} ${line.push}`, line] as const] : [],
    ),
  );
  return lines.flatMap((line) => {
    if (line.kind !== "push") return [];
    const end = ends.get(`${line.epoch} ${line.n}`);
    return [end === undefined ? line : { ...line, answeredMs: end.answeredMs, outcome: end.outcome }];
  });
};

/** The lost connections that a line reports; `momentOf` gives the moment of a time on the receiver's own clock. */
export const lostIn = (
  line: PushLine,
  momentOf: (receiverMs: number) => TimeInterval,
): readonly LostConnection[] => {
  if (line.kind !== "fault" || line.lost === undefined) return [];
  const { stage, address, openedMs } = line.lost;
  const from = address === undefined ? {} : { address };
  return openedMs.map((ms) => ({ n: line.n, stage, at: momentOf(ms), openedMs: ms, ...from }));
};
