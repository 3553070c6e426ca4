import type { VNode } from "preact";
import { duration } from "../../conformance/contract/duration.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { words } from "../text/compact.ts";
import { answerOf, type Answer } from "./answer.ts";
import { el, type Child } from "./element.ts";
import type { RunView } from "./gather/view.ts";
import { toneMark } from "./mark.ts";
import { facts, link, table } from "./parts.ts";

/** A run of the page with its title and the prefix of its ids. */
export interface Chapter {
  readonly view: RunView;
  readonly title: string;
  readonly prefix: string;
}

const symbolWords: Readonly<Record<Answer["tone"], string>> = {
  good: "passed",
  bad: "failed",
  warn: "changed",
  open: "not complete",
  seen: "observed",
  none: "nothing",
};

/** The answer: what it all came to, each run's own, and what was judged by which limits. */
export const overview = (chapters: readonly Chapter[]): VNode => {
  const answers = chapters.map((chapter) => ({ ...chapter, answer: answerOf(chapter.view) }));
  const gravest = answers.toSorted((a, b) => b.answer.gravity - a.answer.gravity)[0]?.answer;
  const one = answers.length === 1 ? answers[0] : undefined;
  return el(
    "section",
    { class: `overview ${gravest?.tone ?? "none"}`, "aria-labelledby": "answer" },
    ...limitCallouts(chapters),
    el(
      "div",
      { class: "answer" },
      gravest !== undefined && toneMark(gravest.tone, gravest.icon, symbolWords[gravest.tone]),
      el(
        "div",
        {},
        el("h1", { id: "answer" }, gravest?.headline ?? "There is no run in this report."),
        one !== undefined && el("p", { class: "detail" }, one.answer.detail),
      ),
    ),
    one === undefined &&
      el(
        "ul",
        { class: "answers" },
        answers.map(({ title, prefix, answer }) =>
          el(
            "li",
            {},
            toneMark(answer.tone, answer.icon, symbolWords[answer.tone]),
            el(
              "div",
              {},
              el("b", {}, link(`${prefix}top`, title), ` — ${answer.headline}`),
              el("p", { class: "soft" }, answer.detail),
            ),
          ),
        ),
      ),
    ...targetFacts(chapters),
  );
};

/** One list of facts where all runs are of one target, otherwise one for each. */
const targetFacts = (chapters: readonly Chapter[]): readonly VNode[] => {
  const groups = Map.groupBy(chapters, ({ view }) =>
    JSON.stringify([view.record.target.name, view.record.target.baseUrl, view.record.limits]),
  );
  return [...groups.values()].flatMap((group) => {
    const record = group[0]?.view.record;
    if (record === undefined) return [];
    const { target } = record;
    return [
      facts([
        ["Target", [target.name, el("div", { class: "soft wrap" }, target.baseUrl)]],
        target.profiles.length === 0
          ? undefined
          : ["Profile", el("span", { class: "wrap" }, target.profiles.join(", "))],
        ["Limits", record.replacedLimits.length === 0 ? "the document’s own" : "some are not the document’s"],
        ["Started", startedText(record.startedAt)],
        ["Judged with", [`Touchstone ${record.tool}`, el("div", { class: "soft" }, `seed ${record.seed}`)]],
      ]),
      ...[...new Set(group.flatMap(({ view }) => view.record.notes))].map((note) =>
        el("p", { class: "note" }, note),
      ),
    ];
  });
};

/** "2030-01-01 00:00:00 UTC", as the record has it: the reader's time zone is not the writer's. */
const startedText = (at: string): string => at.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");

/** Limits that are not the document's come before all else. */
const limitCallouts = (chapters: readonly Chapter[]): readonly VNode[] => {
  const replaced = chapters.filter(({ view }) => view.record.replacedLimits.length > 0);
  const distinct = [...Map.groupBy(replaced, ({ view }) => JSON.stringify(view.record.limits)).values()];
  return distinct.flatMap((group) => {
    const record = group[0]?.view.record;
    if (record === undefined) return [];
    return [
      el(
        "aside",
        { class: "callout", "aria-label": "Limits that are not the document’s" },
        el("h2", {}, "Judged by limits that are not the document’s"),
        table(
          "Replaced limits",
          ["Limit", "In this run", "In the document"],
          record.replacedLimits.map((name): readonly Child[] => [
            words(name),
            limitText(name, record.limits[name]),
            limitText(name, Object.entries(documentLimits).find(([key]) => key === name)?.[1] as Limit),
          ]),
        ),
      ),
    ];
  });
};

type Limit = number | readonly number[] | undefined;

const limitText = (name: string, value: Limit): string => {
  if (value === undefined) return "nothing";
  if (typeof value !== "number") return value.map((one) => limitText(name, one)).join(", ");
  return name.endsWith("Ms") ? duration(value) : String(value);
};
