import { describe, expect, it } from "vitest";
import { suitesOf } from "../../reports/ci/cases.ts";
import { gateDoc } from "../../reports/document/gate.ts";
import { renderMarkdownDocument } from "../../reports/markdown/document.ts";
import { recordOf } from "../../reports/testing/fixture.ts";
import { asPage, onTerminal, textOf } from "../../reports/testing/shown.ts";
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
import { judgeAll } from "../testing/judge.ts";
import { recordedTraces } from "../testing/journals/recorded.ts";
import { gateRun } from "../testing/push-drivers.ts";
import { emptyPushRun, pushRunOf, withPushes, type Sender } from "../testing/push-runs.ts";
import { traces } from "../testing/push-traces.ts";
import { ruleFor } from "../testing/seeded.ts";

const shownOf = async (behaviour: string) => {
  const rules = await judgeAll([ruleFor("push.schedule"), ruleFor("push.cap")], { behaviour });
  const record = recordOf({ rules, outcome: "failed", exitCode: 1 });
  const document = gateDoc({ record, directory: "runs/one" });
  const [suite] = suitesOf([{ kind: "conform", record, directory: "runs/one" } as never], "touchstone");
  return {
    terminal: onTerminal(document).replaceAll(/ {2,}/g, "  "),
    page: textOf(asPage(document)),
    markdown: renderMarkdownDocument(document),
    ci: suite?.cases.map(({ details }) => details).join("\n"),
  };
};

/** The rows of a table in each medium. */
const expectRows = (
  { terminal, page, markdown, ci }: Awaited<ReturnType<typeof shownOf>>,
  rows: readonly (readonly [push: string, due: RegExp, came: RegExp, off: string])[],
): void => {
  for (const [push, due, came, off] of rows) {
    const row = (gap: string, of = (text: string): string => text): RegExp =>
      new RegExp([of(push), due.source, came.source, of(off)].join(gap));
    expect(terminal).toMatch(row(" {1,2}"));
    expect(page).toMatch(row(" +"));
    expect(markdown).toMatch(row(" \\| ", (text) => `(\\*\\*)?${text}(\\*\\*)?`));
    expect(ci).toMatch(row(" \\| "));
  }
};

describe("the proof of a push rule is a table in terminal, page, Markdown and CI reports", () => {
  it("of a push that is missing, in the reading that all other notifications keep", async () => {
    const shown = await shownOf("push-last-retry-never-sent");
    for (const text of [shown.terminal, shown.page]) {
      expect(text).toMatch(/Expected +pushes follow one reading of the schedule with at most 5 pushes/);
      expect(text).toMatch(/Seen +push 5 did not come +Notification|Seen +push 5 did not come\n/);
      expect(text).toMatch(/fits all notifications best, R1 +\(the\s+first at once/);
    }
    expectRows(shown, [
      ["4", /20[89][.\d]* to 210/, /20[89][.\d]* to 210/, "in time"],
      ["5", /44\d[.\d]* to 450/, /–/, "did not come"],
    ]);
  });

  it("of a push that two workers sent", async () => {
    const shown = await shownOf("push-two-workers-once");
    expect(shown.terminal.match(/Seen +push 3 came twice/g)).toHaveLength(1);
    expect(shown.terminal.match(/Seen +6 pushes came: push 3 came twice/g)).toHaveLength(1);
    expect(shown.page).toMatch(/fits all notifications best, R1 /);
    expectRows(shown, [
      ["3", /89 to 90/, /88\.667 to 90/, "in time"],
      ["3", /–/, /88\.667 to 90/, "came twice"],
    ]);
  });
});

const judges: Readonly<Record<string, (pushRun: PushRun) => Finding | undefined>> = {
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
};

const instants = readingsOf(documentLimits)
  .filter(({ name }) => name === "R1" || name === "R5")
  .map(instantsOf);
const [R1 = []] = instants;

/** What senders do wrong, each with all notifications or with one kind of them. */
const senders: readonly Sender["instantsMs"][] = [
  ...instants.flatMap((all): Sender["instantsMs"][] => [
    () => all,
    () => all.map((ms) => ms * 1.7),
    () => all.map((ms) => ms / 3),
    () => all.slice(0, 3),
    () => all.flatMap((ms) => [ms, ms]),
    ({ purpose }) => (purpose === "never" ? all.toSpliced(2, 1) : R1),
    ({ purpose }) => (purpose === "late" ? all.slice(0, 1) : R1),
    ({ isBesideSilence }) => (isBesideSilence === true ? [100_000] : all),
    ({ name }) => (name.startsWith("prompt") ? [] : all),
  ]),
  () => [],
  () => [0],
  () => [0, 1, 2, 3, 4, 5, 6],
];

const runs = senders.flatMap((instantsMs): PushRun[] => {
  const usual = pushRunOf({ instantsMs });
  return [
    usual,
    pushRunOf({ instantsMs, isDone: () => false }),
    { ...usual, clock: "real" },
    { ...usual, watchedUntil: { earliestMs: 200_000, latestMs: 201_000 } },
    { ...usual, hungInRealTime: true },
    pushRunOf({ instantsMs, widthMs: 25_000 }),
    withPushes(usual, (push, index) => ({
      ...push,
      line: { ...push.line, body: index === 0 ? "{}" : `{"id":"${index}"}`, bodySha256: String(index) },
    })),
  ];
});

const findings = [
  emptyPushRun,
  ...runs,
  ...[...traces.filter((_, at) => at % 5 === 0), ...recordedTraces].map(gateRun),
].flatMap((run) =>
  Object.entries(judges).flatMap(([name, judge]) => {
    const finding = judge(run);
    return finding === undefined ? [] : [{ name, ...finding }];
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
