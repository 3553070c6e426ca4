import { describe, expect, it } from "vitest";
import {
  moment,
  outageOf,
  pushAt,
  pushRunOf,
  senderOf,
  withCases,
  withPushes,
} from "../../testing/push-runs.ts";
import { judgeCertificateCheck } from "./advisory.ts";
import { judgeRetries } from "./retries.ts";
import { readingNames, type ReadingName } from "./readings.ts";
import type { PushRun } from "./trace.ts";

/** A push run watched until this moment, without the last push of one notification that is never acknowledged. */
const withoutLast = (reading: ReadingName, watchedUntilMs: number): PushRun =>
  withCases(pushRunOf(senderOf(reading), { watchedUntil: moment(watchedUntilMs) }), ({ name, pushes }) =>
    name.startsWith("always status 404 with ") ? { pushes: pushes.slice(0, -1) } : {},
  );

describe("a push that is missing when watching stops", () => {
  it.each(readingNames)(
    "under reading %s fails only once it is overdue in the reading that all others keep",
    (name) => {
      const kindAt = (ms: number) => judgeRetries(withoutLast(name, ms)).judgement.kind;
      const others = withoutLast(name, 0).pushCases.find((one) => one.name.startsWith("always status 405"));
      const lastMs = others?.pushes.at(-1)?.at.latestMs ?? 0;
      expect(kindAt(lastMs + 600_000)).toBe(
        name === "R5" || name === "R6" || name === "R7" ? "passed" : "failed",
      );
      expect(kindAt(lastMs + 9_000)).not.toBe("failed");
    },
  );

  it("under reading R3 is inconclusive while it may only be late", () => {
    expect(judgeRetries(withoutLast("R3", 935_000)).judgement.kind).toBe("inconclusive");
    expect(judgeRetries(withoutLast("R3", 1_010_000)).judgement.kind).toBe("failed");
  });
});

describe("a push around an outage with an untrusted certificate", () => {
  const onConnection = (id: number, n: number) =>
    pushAt(0, { kind: "answer" }, { line: { n, connection: { id, remotePort: 1, request: 1 } } });
  const judged = (id: number, n: number) => {
    const outages = [outageOf("untrusted", 20, 40)];
    const run = pushRunOf(senderOf("R1"), { outages, others: [onConnection(id, n)] });
    const connection = { id: 1, remotePort: 1, request: 1 };
    const others = withPushes(run, (push) => ({ ...push, line: { ...push.line, connection } }));
    return judgeCertificateCheck(others)?.judgement.kind;
  };

  it.each([
    ["passes if it came on a connection accepted before", 20, 25, "passed"],
    ["passes if it came before but was recorded late", 19, 20, "passed"],
    ["fails if it came on a connection accepted with that certificate", 21, 25, "failed"],
    ["fails if it came on such a connection but was recorded after the outage", 40, 41, "failed"],
    ["passes if it came later", 41, 42, "passed"],
  ] as const)("%s", (_, id, n, kind) => {
    expect(judged(id, n)).toBe(kind);
  });
});
