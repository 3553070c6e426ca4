import type { PushLine } from "../../contract/push.ts";
import type { SeenPush } from "./trace.ts";

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
