import type { PushLine } from "../../../conformance/contract/push.ts";
import { canonicalJson } from "../../../conformance/contract/verdict.ts";
import type { SeenPush } from "./judge.ts";
import { targetTimeAt, type Bracket, type Stop } from "./timeline.ts";

export interface SeenAt {
  /** The wall clock's reading at the origin of the receiver's clock. */
  readonly origin: Bracket;
  /** When the load began, on the wall clock. */
  readonly startedAtMs: number;
  readonly stops: readonly Stop[];
  readonly acknowledgedStatus: number;
}

/** Fields of a notification (document, section 2.3): what must be the same at every push of it. */
const documented = [
  "id",
  "accountId",
  "createTime",
  "businessType",
  "businessStatus",
  "remark",
  "data",
  "status",
];

/** A line of the receiver's journal as a push of a notification; nothing where it is none. */
export const seenPush = (
  line: PushLine,
  { origin, startedAtMs, stops, acknowledgedStatus }: SeenAt,
): readonly SeenPush[] => {
  if (line.kind !== "push" || line.notificationId === undefined) return [];
  const wall: Bracket = {
    earliestMs: origin.earliestMs + line.firstByteMs - line.uncertaintyMs,
    latestMs: origin.latestMs + line.firstByteMs,
  };
  const isWhole = line.outcome === undefined || line.outcome === "sent";
  return [
    {
      notificationId: line.notificationId,
      atMs: wall.latestMs - startedAtMs,
      target: targetTimeAt(stops, wall),
      fields: fieldsOf(line.body),
      acknowledged: line.action === "answer" && line.status === acknowledgedStatus && isWhole,
      answered: line.answer ?? `${line.action}${line.status === undefined ? "" : ` ${line.status}`}`,
      method: line.method,
      path: line.path,
      body: line.body,
    },
  ];
};

const fieldsOf = (body: string): string => {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== "object" || value === null) return body;
    return canonicalJson(
      Object.fromEntries(Object.entries(value).filter(([name]) => documented.includes(name))),
    );
  } catch {
    return body;
  }
};
