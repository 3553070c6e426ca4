import { isRequirementId, requirement } from "../../conformance/contract/catalogue.ts";
import type { Case } from "../../conformance/contract/cases.ts";
import { OBSERVATIONS } from "../compare/cases.ts";
import { shownPart } from "../compare/fingerprint.ts";
import type { Change, Comparison, RunHeading } from "../compare/shape.ts";
import { changedOf, readableFingerprint } from "../text/facts.ts";
import { moment, plural } from "../text/figures.ts";
import { speedSection } from "./compare-speed.ts";
import {
  callout,
  code,
  doc,
  facts,
  lines,
  mark,
  section,
  soft,
  strong,
  table,
  tableSection,
  text,
  type Block,
  type Card,
  type Doc,
  type Look,
  type Section,
  type Text,
} from "./model.ts";

export const compareDoc = (comparison: Comparison): Doc => {
  const { base, head, lacking, leftOut, cases, unchanged, speed } = comparison;
  const [look, headline] = answerOf(comparison);
  return doc({
    title: `${head.target}: ${headline}`,
    look,
    headline,
    detail: detailOf(comparison),
    before: forced(comparison),
    about: [
      ["Base", runText(base)],
      ["Head", runText(head)],
    ],
    sections: [
      tableSection(
        "lacking",
        "Not checked on both sides",
        ["Side", "Why", "What"],
        [...Map.groupBy(lacking, ({ side, why }) => `${side}\n${why}`).values()].map((members) => [
          members[0]?.side ?? "",
          members[0]?.why ?? "",
          members.map(({ what }) => what).join(", "),
        ]),
      ),
      ...changeSections(cases),
      tableSection(
        "drift",
        "Observed behaviour that changed",
        ["Observation", "Was", "Now", "Pinned"],
        cases.map(
          ({ id, group, verdict, expected = "", seen = "" }) =>
            group === OBSERVATIONS && [
              code(id),
              ...changedOf(expected, seen).map((one) => code(readableFingerprint(one))),
              verdict === "drifted" ? "pinned" : "",
            ],
        ),
      ),
      section("unchanged", "Unchanged", text(`${unchanged} with the same verdict in both.`)),
      speed !== undefined && speedSection(speed),
      tableSection(
        "left-out",
        "Runs left out",
        ["Run", "Why"],
        leftOut.map(({ directory, reason }) => [code(directory), reason]),
      ),
    ],
    source: `${base.directory} and ${head.directory}`,
  });
};

const answerOf = ({ verdict, differences, kind, speed }: Comparison): readonly [Look, string] => {
  if (verdict === "regressed") return [["bad", "cross"], "The head run is worse than the base."];
  if (verdict === "incomplete")
    return [
      ["open", "question"],
      differences.length > 0
        ? "Forced: the two runs did not make the same checks."
        : "Incomplete: the two runs did not complete the same checks.",
    ];
  if (verdict === "drifted") return [["warn", "unequal"], "A pinned observation changed."];
  if (kind === "conform") return [["good", "check"], "Nothing newly fails."];
  // What was not judged is not said to be no worse.
  return [
    ["good", "check"],
    speed?.unjudged !== undefined
      ? "Nothing newly fails under load; so few runs cannot judge speed."
      : "Nothing newly fails under load, and no metric is judged worse.",
  ];
};

const detailOf = ({ cases, lacking, unchanged, speed }: Comparison): string => {
  const missing = lacking
    .filter(({ what }) => what === "the run")
    .map(({ side, why }) => `The ${side} run is incomplete: ${why}. `)
    .join("");
  const count = (change: Change): number => cases.filter(({ verdict }) => verdict === change).length;
  const drift = cases.filter(({ group }) => group === OBSERVATIONS).length;
  const unknown = count("failing unjudged");
  const slower = cases.filter(({ group, status }) => group === "speed" && status === "failed").length;
  const speedText =
    speed === undefined
      ? ""
      : speed.unjudged !== undefined
        ? ` Speed is shown, not judged: ${speed.unjudged}.`
        : ` ${plural(slower, "metric")} beyond the limits of the earlier runs.`;
  return `${missing}${count("newly failing")} newly failing, ${unknown === 0 ? "" : `${unknown} failing and not judged before, `}${count("fixed")} fixed, ${count("newly unable")} no longer judged; ${plural(drift, "observation")} changed; ${unchanged} with the same verdict in both.${speedText}`;
};

const runText = ({ directory, target, baseUrl, behaviour, startedAt, tool, outcome }: RunHeading): Text =>
  lines(
    code(directory),
    soft(
      [
        target,
        baseUrl,
        ...(behaviour === undefined ? [] : [`behaviour ${behaviour}`]),
        moment(startedAt),
        `Touchstone ${tool}`,
        outcome,
      ].join(" · "),
    ),
  );

const forced = ({ differences }: Comparison): readonly (Block | false)[] => [
  differences.length > 0 &&
    callout(
      `Comparison forced: these runs differ in ${differences.map(({ part }) => part).join(", ")}`,
      table(
        "Differences",
        ["Part", "Base", "Head"],
        differences.map((one) => [one.part, shownPart(one, "base"), shownPart(one, "head")]),
      ),
    ),
];

/** The most important change first. */
const changes: Readonly<Record<Change, readonly [title: string, look: Look]>> = {
  "newly failing": ["Newly failing", ["bad", "cross"]],
  "failing unjudged": ["Failing, and not judged before", ["bad", "cross"]],
  "newly unable": ["No longer judged", ["open", "question"]],
  "still failing": ["Still failing", ["bad", "cross"]],
  fixed: ["Fixed", ["good", "check"]],
  "able again": ["Judged again", ["good", "check"]],
  "other verdict": ["Another verdict", ["seen", "ring"]],
  "only in head": ["Only in the later run", ["seen", "ring"]],
  "only in base": ["Only in the earlier run", ["seen", "ring"]],
};

const changeSections = (cases: readonly Case[]): readonly Section[] =>
  Object.entries(changes).map(([change, [title, look]]) =>
    section(
      change.replaceAll(" ", "-"),
      title,
      ...cases.filter(({ verdict }) => verdict === change).map((one) => changeCard(one, look)),
    ),
  );

const changeCard = ({ id, status, expected, seen, more = [] }: Case, look: Look): Card => {
  const known = isRequirementId(id) ? requirement(id) : undefined;
  return {
    is: "card",
    tone: status === "failed" ? "failed" : undefined,
    header: mark(look, code(id), look[0] === "bad" ? "failed" : look[0] === "good" ? "passed" : undefined),
    beside: `${more.join("; ")}${known?.level === "advisory" ? ", advisory" : ""}`,
    ...(known !== undefined && { promise: known.sentence }),
    blocks: [
      facts([expected !== undefined && ["Expected", expected], seen !== undefined && ["Seen", strong(seen)]]),
    ],
  };
};
