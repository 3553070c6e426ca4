import { expect, it } from "vitest";
import { judgeCertificateCheck, judgeHeadOfLine, judgeRedirects } from "../judging/pushes/advisory.ts";
import { judgeCap } from "../judging/pushes/cap.ts";
import {
  judgeAcknowledgedStops,
  judgeDelivered,
  judgeLateAcknowledgement,
  judgeSameNotification,
} from "../judging/pushes/delivery.ts";
import type { Finding } from "../judging/pushes/finding.ts";
import { judgeIndependence } from "../judging/pushes/independence.ts";
import { judgePayload } from "../judging/pushes/payload.ts";
import { instantsOf, readingsOf } from "../judging/pushes/readings.ts";
import { judgeRetries } from "../judging/pushes/retries.ts";
import { judgeSchedule } from "../judging/pushes/schedule.ts";
import type { PushRun } from "../judging/pushes/trace.ts";
import { documentLimits } from "../contract/limits.ts";
import { EVERY_CONTROL } from "../checks/context.ts";
import { gateRun } from "../testing/push-drivers.ts";
import { emptyPushRun, pushRunOf, withPushes, type Sender } from "../testing/push-runs.ts";
import { traces } from "../testing/push-traces.ts";

const judges: readonly ((pushRun: PushRun) => Finding | undefined)[] = [
  judgeDelivered,
  judgePayload,
  judgeAcknowledgedStops,
  judgeLateAcknowledgement,
  judgeSameNotification,
  judgeRetries,
  judgeCap,
  judgeSchedule,
  judgeIndependence,
  judgeHeadOfLine,
  judgeRedirects,
  judgeCertificateCheck,
];

const instants = readingsOf(documentLimits)
  .filter(({ name }) => name === "R1" || name === "R5")
  .map(instantsOf);
const [R1 = []] = instants;

/** What senders do wrong, each with all notifications or with one kind of them. */
const senders: readonly Sender["instantsMs"][] = [
  ...instants.flatMap((all): Sender["instantsMs"][] => [
    () => all,
    () => all.map((ms) => ms / 3),
    () => all.flatMap((ms) => [ms, ms]),
    ({ purpose }) => (purpose === "late" ? all.slice(0, 1) : R1),
    ({ isBesideSilence }) => (isBesideSilence === true ? [100_000] : all),
    ({ name }) => (name.startsWith("prompt") ? [] : all),
  ]),
  () => [],
];

const runs = senders.flatMap((instantsMs): PushRun[] => {
  const usual = pushRunOf({ instantsMs });
  return [
    usual,
    pushRunOf({ instantsMs, isDone: () => false }),
    { ...usual, watchedUntil: { earliestMs: 200_000, latestMs: 201_000 } },
    { ...usual, hungInRealTime: true },
    pushRunOf({ instantsMs, widthMs: 25_000 }),
    withPushes(usual, (push, index) => ({
      ...push,
      line: { ...push.line, body: index === 0 ? "{}" : `{"id":"${index}"}`, bodySha256: String(index) },
    })),
  ];
});

const findings = [emptyPushRun, ...runs, ...traces.filter((_, at) => at % 5 === 0).map(gateRun)].flatMap(
  (run) =>
    judges.flatMap((judge) => {
      const finding = judge(run);
      return finding === undefined ? [] : [{ name: judge.name, ...finding }];
    }),
);

const MOST_WORDS = 20;

it("what was expected and what was seen are sentences of at most twenty words, the same for every sender", () => {
  const failed = findings.flatMap(({ name, judgement }) =>
    judgement.kind === "failed" ? [{ name, sentences: [judgement.expected, judgement.actual] }] : [],
  );
  expect(new Set(failed.map(({ name }) => name)).size).toBeGreaterThanOrEqual(9);
  const long = failed
    .flatMap(({ sentences }) => sentences)
    .filter((one) => one.split(" ").length > MOST_WORDS);
  expect([...new Set(long)]).toEqual([]);
});

it("every inconclusive push rule says what would settle it, and it is one thing", () => {
  const open = findings.flatMap(({ judgement }) => (judgement.kind === "inconclusive" ? [judgement] : []));
  expect(new Set(open.map(({ reason }) => reason)).size).toBeGreaterThan(20);
  for (const { settle } of open) {
    expect(settle).toBeDefined();
    expect(settle).not.toBe(EVERY_CONTROL);
    expect(settle).not.toMatch(/\bor\b/);
  }
});
