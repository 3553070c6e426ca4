import type { VNode } from "preact";
import { failsGate } from "../../conformance/contract/waivers.ts";
import { causesOf, commonCauseOf } from "../text/causes.ts";
import { figure as number, plural } from "../text/figures.ts";
import { leftOn } from "../text/left-behind.ts";
import { activeWaivers, waiverStateText } from "../text/waivers.ts";
import { openRules } from "./answer.ts";
import { everyRule } from "./catalogue.ts";
import { el, type Child } from "./element.ts";
import { pushEvidence } from "./exchanges.ts";
import type { GateView } from "./gather/view.ts";
import { lifetimes } from "./lifetimes.ts";
import { mark, toneMark } from "./mark.ts";
import { drift, observed } from "./observed.ts";
import type { Part } from "./part.ts";
import { facts, link, table } from "./parts.ts";
import { breachAnchor, breachCard, ruleAnchor, type Place } from "./rule-card.ts";
import { schedules } from "./schedule.ts";

/** The parts of the page that tell of a run of the gate. Parts with nothing to tell are left out. */
export const gateParts = (view: GateView, place: Place): readonly Part[] => {
  const { record } = view;
  const part = (id: string, title: string, ...content: readonly Child[]): Part => ({
    id: `${place.prefix}${id}`,
    title,
    content,
  });
  const times = lifetimes(record, place);
  const schedule = schedules(record, place);
  const open = observed(record, view.pinned, place);
  const excused = activeWaivers(record);
  const broken = breaches(view, "failed", place)
    .filter(({ id }) => !excused.has(id))
    .map(({ card }) => card);
  const waived = [...breaches(view, "failed", place), ...breaches(view, "warned", place)]
    .filter(({ id }) => excused.has(id))
    .map(({ card }) => card);
  const warned = breaches(view, "warned", place)
    .filter(({ id }) => !excused.has(id))
    .map(({ card }) => card);
  const waivers = waiverTable(record);
  const changed = drift(record, view.pinned, place);
  const unjudged = [...lookFirst(view, place), ...notJudged(view, place)];
  return [
    ...(broken.length === 0 ? [] : [part("broken", "What broke", broken)]),
    ...(changed === undefined ? [] : [part("changed", "What changed", changed)]),
    ...(unjudged.length === 0 ? [] : [part("unjudged", "What could not be judged", unjudged)]),
    ...(warned.length === 0
      ? []
      : [
          part(
            "warned",
            "Warnings",
            el("p", { class: "soft" }, "From public standards, not from the document."),
            warned,
          ),
        ]),
    ...(waivers === undefined ? [] : [part("waivers", "Waivers", waivers, waived)]),
    part("rules", "Every rule", ...everyRule(view, place)),
    ...(times === undefined ? [] : [part("lifetimes", "Lifetimes", times)]),
    ...(schedule.length === 0 && view.pushes === undefined
      ? []
      : [part("pushes", "Pushes", schedule, journal(view))]),
    ...(open === undefined
      ? []
      : [
          part(
            "observed",
            "Left open by the document",
            el(
              "p",
              { class: "soft" },
              "Nothing is promised here; what the service does is noted, and can be pinned.",
            ),
            open,
          ),
        ]),
    ...leftOnTarget(record, part),
    part("environment", "How it was judged", environment(view)),
  ];
};

/** What nobody can take back, as the document has no call for it. */
const leftOnTarget = (
  record: GateView["record"],
  part: (id: string, title: string, ...content: readonly Child[]) => Part,
): readonly Part[] => {
  const sentences = leftOn(record);
  return sentences.length === 0
    ? []
    : [
        part(
          "left",
          "Left on the target",
          el(
            "p",
            { class: "soft" },
            "The document has no call that revokes or removes, so this stays until it ends.",
          ),
          el(
            "ul",
            {},
            sentences.map((one) => el("li", {}, one)),
          ),
        ),
      ];
};

const breaches = (
  view: GateView,
  kind: "failed" | "warned",
  place: Place,
): readonly { readonly id: string; readonly card: VNode }[] =>
  view.record.rules.flatMap((result) =>
    result.verdict.kind === kind
      ? [{ id: result.id, card: breachCard(result, result.verdict, view, place) }]
      : [],
  );

/** Breaches that are known and taken on for a while; a waiver that is out of date fails the gate. */
const waiverTable = ({ waivers = [] }: GateView["record"]): VNode | undefined =>
  waivers.length === 0
    ? undefined
    : table(
        "Waivers",
        ["Rule", "In this run", "Reason", "Owner", "Until"],
        waivers.map((waiver) => [
          el(
            "span",
            { class: "with-mark" },
            failsGate(waiver) ? toneMark("bad", "cross", "fails") : toneMark("none", "dash", "noted"),
            el("code", {}, waiver.id),
          ),
          waiverStateText(waiver),
          waiver.reason,
          waiver.owner,
          waiver.expires,
        ]),
      );

/** One answer that stands behind most of what could not be judged. */
const lookFirst = ({ record }: GateView, place: Place): readonly Child[] => {
  const cause = commonCauseOf(record.rules);
  return cause === undefined
    ? []
    : [
        el(
          "aside",
          { class: "callout", "aria-label": "Look at this first" },
          el("h3", {}, "Look at this first"),
          el(
            "p",
            {},
            `${plural(cause.unjudged.length, "rule")} could not be judged because a request that had to succeed did not: `,
            el("strong", {}, cause.reason),
            ". The same answer stands in ",
            cause.broken.map((id, at) => [at > 0 && ", ", link(breachAnchor(place, id), id)]),
            ".",
          ),
        ),
      ];
};

/** Rules of one cause together: what is missing matters more than which rule misses it. */
const notJudged = (view: GateView, place: Place): readonly Child[] => {
  const open = new Set(openRules(view.record).map(({ id }) => id));
  const causes = causesOf(
    view.record.rules.filter(({ id, verdict }) => open.has(id) || verdict.kind === "harness-error"),
  );
  const settled = new Set<string>(view.record.rules.map(({ id }) => id));
  const unreached = view.record.selected.filter((id) => !settled.has(id));
  return [
    ...causes.map(({ kind, title, detail, ids }) =>
      el(
        "article",
        { class: "cause" },
        el("header", {}, mark(kind), el("h4", {}, title)),
        el("p", {}, detail),
        el(
          "ul",
          { class: "ids" },
          ids.map((id) => el("li", {}, link(ruleAnchor(place, id), id))),
        ),
      ),
    ),
    ...(unreached.length === 0
      ? []
      : [el("p", {}, `Not reached before the run ended: ${unreached.join(", ")}.`)]),
  ];
};

/** What the receiver wrote down. */
const journal = ({ pushes }: GateView): readonly Child[] => {
  if (pushes === undefined) return [];
  return [
    el("h3", {}, "What the receiver saw"),
    el(
      "p",
      {},
      `${plural(pushes.pushes, "push", "pushes")} of ${plural(pushes.notifications, "notification")}${pushes.others === 0 ? "" : `, and ${plural(pushes.others, "request")} that were no pushes`}.`,
    ),
    el(
      "div",
      { class: "side-by-side" },
      table(
        "Notifications by how often each was pushed",
        ["Pushed", "Notifications"],
        pushes.attempts.flatMap((count, at) =>
          count === 0 ? [] : [[plural(at + 1, "time"), number(count)]],
        ),
        [1],
      ),
      table(
        "Pushes by what the receiver answered, as planned",
        ["Answered", "Pushes"],
        pushes.answers.map(([answer, count]) => [answer, number(count)]),
        [1],
      ),
    ),
    el("h4", {}, "The first pushes"),
    ...pushEvidence(pushes.sample),
  ];
};

const environment = ({ record, run }: GateView): VNode =>
  facts([
    ["Effort", record.effort],
    record.target.behaviour === undefined
      ? undefined
      : ["Behaviour", el("code", {}, record.target.behaviour)],
    ["Seed", el("code", {}, String(record.seed))],
    ["Clock of the target", record.target.clock],
    ["Strict", record.strict ? "yes: warnings fail" : "no"],
    ["Rules asked for", number(record.selected.length)],
    ["Record", el("code", { class: "wrap" }, run)],
  ]);
