import { requirementIds } from "../../conformance/contract/catalogue.ts";
import { leftBehindLine, leftBehindSentences } from "../../conformance/contract/left-behind.ts";
import { drifted, failsGate, waiverStateText, type WaiverState } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import type { GateView } from "../gather/gather.ts";
import { causesOf, commonCauseOf, placesOf, rootOf, sameAnswerAs } from "../text/causes.ts";
import { figure as number, plural } from "../text/figures.ts";
import { changedOf } from "../text/facts.ts";
import { groupTitles, requirementOf, wordOf, activeWaivers } from "../text/verdicts.ts";
import { gateDetail, headlineOf } from "./answer.ts";
import { breachCard, breachLink, ruleGroups, ruleLink } from "./gate-rules.ts";
import {
  alsoMeasured,
  fingerprintText,
  lifetimesFigure,
  observedTable,
  pushBlocks,
  readingsTable,
} from "./gate-measured.ts";
import {
  lookOf,
  code,
  doc,
  facts,
  list,
  mark,
  note,
  section,
  softText,
  strong,
  table,
  text,
  type Block,
  type Card,
  type Doc,
  type Section,
  type Text,
} from "./model.ts";
import { limitsCallout, runLook, targetFacts, type GateOptions, type Place } from "./run.ts";

export type GateSubject = Omit<GateView, "kind">;

const usual: GateOptions = { prefix: "", program: "touchstone", detail: "brief" };

export const gateDoc = (subject: GateSubject, some: Partial<GateOptions> = {}): Doc => {
  const options = { ...usual, ...some };
  const { record, directory } = subject;
  const headline = headlineOf(record);
  const leftBehind = leftOn(record);
  const left = leftBehind && leftBehindLine(leftBehind);
  return doc({
    prefix: options.prefix,
    title: `${record.target.name}: ${headline}`,
    look: runLook(record),
    headline,
    detail: gateDetail(record),
    before: [limitsCallout(record)],
    about: [...targetFacts(record), ["Record", code(directory)]],
    after: [
      ...record.notes.map((one) => note(one)),
      left !== undefined && softText(`Left on the target: ${left}.`),
    ],
    sections: [
      ...failureSections(subject, options),
      ...(options.detail === "failures" ? [] : accountSections(subject, options)),
    ],
    source: directory,
  });
};

/** What a run left on its target; the embedded fake keeps nothing: it ends with the run. */
const leftOn = ({ target, leftBehind }: RunRecord): RunRecord["leftBehind"] =>
  target.profiles.length === 0 ? undefined : leftBehind;

const failureSections = (subject: GateSubject, options: GateOptions): readonly (Section | false)[] => {
  const { record } = subject;
  const excused = activeWaivers(record);
  const { rules } = record;
  const place = placesOf(rules);
  const inCatalogue = (id: string): number => requirementIds.findIndex((one) => one === id);
  const cards = (kind: "failed" | "warned", isExcused: boolean, isShort = false): readonly Card[] =>
    record.rules
      .filter(({ id, verdict }) => verdict.kind === kind && excused.has(id) === isExcused)
      .toSorted((a, b) => place(a.id) - place(b.id) || inCatalogue(a.id) - inCatalogue(b.id))
      .flatMap((result) =>
        breachCard(result, subject.directory, {
          ...options,
          isShort,
          waiver: excused.get(result.id),
          baseUrl: record.target.baseUrl,
          clock: record.target.clock,
        }),
      );
  const broken = cards("failed", false);
  const known = [...cards("failed", true, true), ...cards("warned", true, true)];
  const warned = cards("warned", false, !record.strict);
  return [
    section("cause", "Start here", ...startOf(record, options)),
    section("broken", `Broken promises (${broken.length})`, ...broken),
    section("known", `Known breaches, waived for now (${known.length})`, ...known),
    (options.detail !== "failures" || record.strict) &&
      section("warned", `Warnings (${warned.length}): from public standards, not the document`, ...warned),
    section("waivers", `Waivers (${record.waivers.length})`, waiverTable(record)),
    section("changed", "Pinned observations that changed", driftTable(record, options)),
    section("unjudged", "Rules that could not be judged", ...unjudged(record, options)),
  ];
};

/** Where to start, if one cause explains many of the results. */
const startOf = ({ rules }: RunRecord, place: Place): readonly (Block | false)[] => {
  const [cause, root] = [commonCauseOf(rules), rootOf(rules)];
  const following = sameAnswerAs(rules, root?.id);
  const linked = (id: string): Text => breachLink(place, id);
  return [
    root?.steps !== undefined && text(`${root.what}: `, root.steps, " (", linked(root.id), ")."),
    root !== undefined &&
      root.steps === undefined &&
      text(`${root.what}: `, linked(root.id), ". Other breaches may follow from it."),
    following.length > 0 &&
      text(
        `${plural(following.length, "other breach", "other breaches")} ${following.length === 1 ? "quotes" : "quote"} the same answer: `,
        ...listed(following, linked),
        ".",
      ),
    cause !== undefined &&
      text(
        `${plural(cause.unjudged.length, "rule")} could not be judged because a request that had to succeed failed: `,
        strong(cause.reason),
        ...(cause.broken.every((id) => id === root?.id || following.includes(id))
          ? [". That is the same answer again."]
          : [
              `. The same answer is in the ${cause.broken.length === 1 ? "breach" : "breaches"} of `,
              ...listed(cause.broken, linked),
              ".",
            ]),
      ),
  ];
};

/** Links in a sentence. */
const listed = (ids: readonly string[], linked: (id: string) => Text): readonly Text[] =>
  ids.flatMap((id, at) => [at > 0 ? ", " : "", linked(id)]);

const remedies: Readonly<Partial<Record<WaiverState, string>>> = {
  expired: "fix the breach and remove the waiver, or agree on a new date with its owner",
  stale: "remove the waiver from the profile, so that a new breach is reported",
};

const waiverTable = ({ waivers }: RunRecord) =>
  table(
    "Waivers",
    ["Rule", "In this run", "Reason", "Owner", "Until", "What to do"],
    waivers.map((waiver) => [
      mark(
        failsGate(waiver) ? ["bad", "cross"] : ["none", "dash"],
        code(waiver.id),
        failsGate(waiver) ? "fails" : "noted",
      ),
      waiverStateText(waiver),
      waiver.reason,
      waiver.owner,
      waiver.expires,
      remedies[waiver.state] ?? "",
    ]),
  );

const driftTable = ({ rules, pinned }: RunRecord, place: Place) => {
  const changed = new Set<string>(drifted(rules, pinned));
  return table(
    "Pinned observations that changed",
    ["Observation", "Pinned", "Seen"],
    rules.map(
      ({ id, verdict }) =>
        verdict.kind === "observed" &&
        changed.has(id) && [
          mark(["bad", "unequal"], ruleLink(place, id), "changed"),
          ...changedOf(pinned[id] ?? "", verdict.fingerprint).map(fingerprintText),
        ],
    ),
  );
};

const accountSections = (subject: GateSubject, options: GateOptions): readonly (Section | false)[] => {
  const { record } = subject;
  const isFull = options.detail === "full";
  const observed = record.rules.filter(({ verdict }) => verdict.kind === "observed").length;
  const groups = ruleGroups(subject, options);
  const left = leftOn(record);
  return [
    section("rules", "Every rule", groups.length > 0 && { is: "rules", isLong: isFull, groups }),
    section("lifetimes", "Lifetimes", lifetimesFigure(record, options)),
    section("readings", "Readings that fit the evidence", readingsTable(record.rules, options)),
    section("pushes", "Pushes", ...pushBlocks(record, options)),
    isFull && section("measured", "Also measured", alsoMeasured(record.rules, options)),
    section(
      "observed",
      "Observed where the document is silent",
      isFull
        ? observedTable(record, options)
        : observed > 0 &&
            softText(`${plural(observed, "observation")}; --verbose and reports show the values.`),
    ),
    section(
      "not-applicable",
      "Rules that do not apply to this service",
      ...causeCards(record.rules.filter(doesNotApply), options),
    ),
    section("untested", "Not selected, or not testable", ...untested(record, options)),
    isFull &&
      section(
        "left",
        "Left on the target: the document has no call to remove it",
        list(left === undefined ? [] : leftBehindSentences(left)),
      ),
    isFull && section("environment", "How it was judged", facts(environment(record))),
  ];
};

/** Whether the rule has no verdict only because the run ended; the reason is then the same for all. */
const wasCutOff = ({ verdict }: RunRecord["rules"][number]): boolean =>
  verdict.kind === "inconclusive" && verdict.reason === "interrupted";

/** The service conforms in another way, so that nothing was left open. */
const doesNotApply = ({ verdict }: RuleResult): boolean =>
  verdict.kind === "not-applicable" && verdict.by === "service";

const causeCards = (results: readonly RuleResult[], options: GateOptions): readonly Card[] =>
  causesOf(results).map(({ kind, title, why, needed, ids }) => ({
    is: "card",
    header: mark(lookOf[kind], title, wordOf(kind)),
    blocks: [
      facts([
        ["Rules", listed(ids, (id) => ruleLink(options, id))],
        ["Why", why],
        needed !== undefined && ["Needed", needed],
      ]),
    ],
  }));

const unjudged = (record: RunRecord, options: GateOptions): readonly (Block | false)[] => {
  const settled = record.rules.filter((result) => !wasCutOff(result));
  const ids = new Set<string>(settled.map(({ id }) => id));
  const unreached = record.selected.filter((id) => !ids.has(id));
  const names = options.detail === "full" ? `: ${unreached.join(", ")}` : "";
  return [
    ...causeCards(
      settled.filter((result) => !doesNotApply(result)),
      options,
    ),
    unreached.length > 0 &&
      softText(
        `${plural(unreached.length, "rule was", "rules were")} not judged before the run ended${names}.`,
      ),
  ];
};

const untested = (
  { selected }: RunRecord,
  { detail }: GateOptions,
): readonly (Block | false | undefined)[] => {
  const asked = new Set<string>(selected);
  const testable = requirementIds.filter((id) => requirementOf(id).level !== "untestable");
  const unasked = testable.filter((id) => !asked.has(id));
  const statements = requirementIds.length - testable.length;
  const names = detail === "full" ? `: ${unasked.join(", ")}` : "";
  return [
    unasked.length > 0 &&
      softText(`${plural(unasked.length, "rule was", "rules were")} not selected${names}.`),
    detail === "full"
      ? table(
          groupTitles.untestable,
          ["Statement", "What the document says", "Why it cannot be tested"],
          requirementIds.map((id) => {
            const known = requirementOf(id);
            return known.level === "untestable" && [code(id), known.sentence, known.reason];
          }),
        )
      : unasked.length === 0 &&
        softText(
          `${plural(statements, "statement")} of the document cannot be tested from outside; \`touchstone rules\` says why.`,
        ),
  ];
};

const environment = (record: RunRecord) =>
  [
    ["Effort", record.effort],
    ["Clock of the target", record.target.clock],
    ["Strict", record.strict ? "yes: warnings fail" : "no"],
    ["Selected rules", number(record.selected.length)],
    ["Seed", code(String(record.seed))],
  ] as const;
