import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { documentLimits } from "../../contract/limits.ts";
import { readingsOf } from "../../judging/pushes/readings.ts";
import { keeping, traceId, type Trace, type TraceVerdict } from "../push-traces.ts";
import type { RecordedNotification } from "./record.ts";

const missing = { schedule: "broken", retries: "broken" } as const;
const early = { schedule: "broken" } as const;
const pushedOn = { stops: "broken" } as const;

/** Expected breaches, by the behaviour of the service and what was done to the notification; everything else conforms. */
const broken: Readonly<Record<string, Readonly<Record<string, Partial<TraceVerdict>>>>> = {
  "push-any-answer-taken-for-success": { "never acknowledged": missing, "acknowledged at push 3": missing },
  "push-ignores-acknowledgements": {
    "acknowledged at push 1": pushedOn,
    "acknowledged at push 3": pushedOn,
    "closed, then acknowledged": pushedOn,
    "reset, then acknowledged": pushedOn,
  },
  "push-last-retry-never-sent": { "never acknowledged": missing },
  "push-jitter-slightly-early": {
    "never acknowledged": early,
    "acknowledged at push 3": early,
    "closed, then acknowledged": early,
    "reset, then acknowledged": early,
  },
  "push-retried-after-5xx-only": {
    "closed, then acknowledged": missing,
    "reset, then acknowledged": missing,
  },
};

/** Every sender here counts its delays from the failure of the latest push. */
const [reading] = readingsOf(documentLimits).filter(({ name }) => name === "R1");

const traceOf = ({ behaviour, name, lines, watchedUntilMs }: RecordedNotification): Trace => {
  if (reading === undefined) throw new Error("there is no reading R1");
  const [first] = lines;
  const id = first?.kind === "push" ? (first.notificationId ?? "") : "";
  return {
    name: `${behaviour}: ${name}`,
    reading,
    clock: "real",
    lines: JSON.parse(JSON.stringify(lines).replaceAll(id, traceId)) as Trace["lines"],
    watchedUntilMs,
    verdict: { ...keeping, ...broken[behaviour]?.[name] },
    // The picture shows a never-acknowledged notification.
    notFor: name === "never acknowledged" ? [] : ["picture"],
  };
};

/** Journals of real runs in real time, made by record.ts. */
export const recordedTraces: readonly Trace[] = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".jsonl"))
  .toSorted()
  .flatMap((file) =>
    readFileSync(path.join(import.meta.dirname, file), "utf8")
      .trim()
      .split("\n")
      .map((line) => traceOf(JSON.parse(line) as RecordedNotification)),
  );
