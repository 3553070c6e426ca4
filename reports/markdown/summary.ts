import type { CiCase, CiRun, CiSuite } from "../ci/case.ts";
import { suitesOf } from "../ci/cases.ts";
import { plural } from "../text/figures.ts";
import { leftOn } from "../text/left-behind.ts";
import { latency } from "../text/latency.ts";
import { rate } from "../text/units.ts";
import { codeMarkdown as code, inertMarkdown as inert } from "./inert.ts";
import { cut } from "../../conformance/contract/text.ts";

export interface SummaryOptions {
  readonly program: string;
  /** The largest size of the summary in bytes; by default a mebibyte, which is what CI services accept. */
  readonly mostBytes?: number;
}

const MEBIBYTE = 1_048_576;
/** What one text of a service may take up. */
const LONGEST = 2_000;

/** A piece of the summary; of those that fit no more, `what` is counted. */
interface Block {
  readonly text: string;
  readonly what: string;
}

/** Runs as a summary in Markdown for a CI service: what matters most comes first, and what did not fit is counted. */
export const renderMarkdown = (
  runs: readonly CiRun[],
  { program, mostBytes = MEBIBYTE }: SummaryOptions,
): string => {
  const suites = suitesOf(runs, program);
  const blocks = [
    ...suites.map(answerBlock),
    ...suites.flatMap((suite) => suite.cases.filter(isBad).map(badBlock)),
    ...suites.flatMap((suite) => suite.cases.filter(isWarned).map(badBlock)),
    ...suites.flatMap(skippedBlocks),
    ...suites.flatMap(passedBlocks),
    ...runs.flatMap(latencyBlocks),
    ...runs.flatMap(leftBlocks),
  ];
  return fitted(blocks, mostBytes);
};

/** What stays on the target of a gate run. */
const leftBlocks = (run: CiRun): readonly Block[] => {
  const sentences = run.kind === "conform" ? leftOn(run.record) : [];
  return sentences.length === 0
    ? []
    : [
        {
          what: "list of what stays on the target",
          text: [
            "",
            "### Left on the target",
            "",
            ...sentences.map((one) => `- ${inert(cut(one, LONGEST))}`),
            "",
          ].join("\n"),
        },
      ];
};

const isBad = ({ status }: CiCase): boolean => status === "failed" || status === "error";

const isWarned = ({ status, verdict }: CiCase): boolean => status === "passed" && verdict === "warned";

const outcomeWords: Readonly<Record<CiSuite["outcome"], string>> = {
  passed: "✅ passed",
  failed: "❌ failed",
  incomplete: "⚠️ incomplete: not everything that is required could be judged",
  drifted: "⚠️ a pinned observation changed",
  "harness-error": "💥 Touchstone itself failed",
  interrupted: "⚠️ interrupted",
  open: "⚠️ cut off before its end",
};

/** Verdicts that fail nothing and are no plain pass either. */
const apart: ReadonlySet<string> = new Set(["warned", "observed"]);

const answerBlock = (suite: CiSuite): Block => {
  const count = (status: CiCase["status"]): number =>
    suite.cases.filter((one) => one.status === status).length;
  const passed = Map.groupBy(
    suite.cases.filter(({ status }) => status === "passed"),
    ({ verdict }) => (apart.has(verdict) ? verdict : "passed"),
  );
  const counts = [
    ...(["failed", "error", "skipped"] as const).map(
      (status) => [count(status), status === "skipped" ? "not judged" : status] as const,
    ),
    ...["warned", "observed", "passed"].map((word) => [passed.get(word)?.length ?? 0, word] as const),
  ].flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`]));
  return {
    what: "run",
    text: [
      `## Touchstone ${suite.name}: ${outcomeWords[suite.outcome]}`,
      "",
      `${inert(suite.target)} · ${counts.join(" · ")} · exit code ${suite.exitCode ?? "none"} · seed ${suite.seed}`,
      ...(suite.replacedLimits.length === 0
        ? []
        : [
            "",
            `**Judged by limits that are not the document's:** ${inert(suite.replacedLimits.join(", "))}`,
          ]),
      "",
    ].join("\n"),
  };
};

const badBlock = ({ name, status, message, details }: CiCase): Block => ({
  what: status === "passed" ? "warning" : "failure",
  text: [
    `### ${{ error: "💥", failed: "❌", passed: "⚠️", skipped: "" }[status]} ${code(name)}`,
    "",
    `**${inert(cut(message ?? "", LONGEST))}**`,
    ...(details === undefined
      ? []
      : ["", "<ul>", ...details.split("\n").map((line) => `<li>${lineOf(line)}</li>`), "</ul>"]),
    "",
  ].join("\n"),
});

/** "expected: ..." with its label set apart; a command as code. */
const lineOf = (line: string): string => {
  const [, label, rest] = /^(part|expected|seen|pinned|input|again|replay): (.*)$/.exec(line) ?? [];
  if (label === undefined || rest === undefined) return inert(cut(line, LONGEST));
  return `${label}: ${["replay", "input"].includes(label) ? code(cut(rest, LONGEST)) : inert(cut(rest, LONGEST))}`;
};

const skippedBlocks = ({ name, cases }: CiSuite): readonly Block[] => {
  const skipped = cases.filter(({ status }) => status === "skipped");
  if (skipped.length === 0) return [];
  return [
    { what: "heading", text: `### Not judged in the ${name} (${skipped.length})\n` },
    ...[...Map.groupBy(skipped, ({ message }) => message ?? "")].map(([message, members]) => ({
      what: "reason",
      text: `- ${inert(cut(message, LONGEST))}: ${members.map((one) => code(one.name)).join(", ")}`,
    })),
    { what: "line", text: "" },
  ];
};

const passedBlocks = ({ name, cases }: CiSuite): readonly Block[] => {
  const passed = cases.filter((one) => one.status === "passed" && !isWarned(one));
  if (passed.length === 0) return [];
  return [
    {
      what: "list of what passed",
      text: [
        `<details><summary>${plural(passed.length, "case")} of the ${name} passed or were observed</summary>`,
        "",
        ...passed.map(
          ({ name, verdict, message }) =>
            `- ${code(name)} ${verdict}${message === undefined ? "" : `: ${inert(cut(message, LONGEST))}`}`,
        ),
        "",
        "</details>",
        "",
      ].join("\n"),
    },
  ];
};

const latencyBlocks = (run: CiRun): readonly Block[] => {
  if (run.kind !== "load" || run.record.endpoints.length === 0) return [];
  const { achieved, endpoints } = run.record;
  return [
    {
      what: "table of latencies",
      text: [
        ...(achieved === undefined
          ? []
          : [`${plural(achieved.requests, "request")} at ${rate(achieved.requestsPerSecond)} a second.`, ""]),
        "| endpoint | requests | p50 | p95 | p99 | slowest |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        ...endpoints.map(
          ({ endpoint, outcome, response }) =>
            `| ${inert(endpoint)} ${outcome} | ${response.count} | ${[response.p50Ms, response.p95Ms, response.p99Ms, response.maxMs].map(latency).join(" | ")} |`,
        ),
        "",
      ].join("\n"),
    },
  ];
};

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** As many blocks as there is room for, in their order; a last line counts what was left out, by its kind. */
const fitted = (blocks: readonly Block[], mostBytes: number): string => {
  const room = mostBytes - bytesOf(leftOut(blocks));
  const kept: string[] = [];
  const left: Block[] = [];
  let used = 0;
  for (const block of blocks) {
    const size = bytesOf(block.text) + 1;
    if (left.length === 0 && used + size <= room) {
      kept.push(block.text);
      used += size;
    } else left.push(block);
  }
  return [...kept, leftOut(left)].join("\n");
};

const leftOut = (blocks: readonly Block[]): string => {
  if (blocks.length === 0) return "";
  const kinds = [...Map.groupBy(blocks, ({ what }) => what)].filter(
    ([what]) => what !== "line" && what !== "heading",
  );
  return `\n**Left out for want of room:** ${kinds.map(([what, members]) => plural(members.length, what)).join(", ")}. The run directory has everything.\n`;
};
