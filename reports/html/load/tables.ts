import type { VNode } from "preact";
import type { LoadRecord } from "../../../conformance/contract/load-record.ts";
import { knownRequirement } from "../../terminal/titles.ts";
import { figure as number, plural } from "../../text/figures.ts";
import { el, type Child } from "../element.ts";
import { toneMark } from "../mark.ts";
import { table } from "../parts.ts";
import { latency, percent } from "../../text/latency.ts";

/** Every endpoint's latencies, as the service took and as a caller who keeps to the schedule waits. */
export const endpointTable = ({ endpoints }: LoadRecord): VNode | undefined =>
  endpoints.length === 0
    ? undefined
    : table(
        "Latencies by endpoint",
        ["Endpoint", "Requests", "Counted from", "p50", "p90", "p95", "p99", "p99.9", "Slowest"],
        endpoints.flatMap(({ endpoint, outcome, service, response }) =>
          (
            [
              ["meant to start", response],
              ["sent", service],
            ] as const
          ).map(([from, one], at) => [
            at === 0
              ? [endpoint, " ", el("span", { class: "soft" }, outcome)]
              : el("span", { class: "heard" }, `${endpoint} ${outcome}`),
            at === 0 ? number(one.count) : "",
            from,
            ...[one.p50Ms, one.p90Ms, one.p95Ms, one.p99Ms, one.p999Ms, one.maxMs].map(latency),
          ]),
        ),
        [1, 3, 4, 5, 6, 7, 8],
      );

/** The rules that were looked at while the load ran. */
export const ruleTable = ({ rules }: LoadRecord): VNode | undefined =>
  rules.length === 0
    ? undefined
    : table(
        "Promises under load",
        ["Rule", "Looks", "Breaches", "What it says"],
        rules.map(({ id, checks, breaches, note }): readonly Child[] => [
          el(
            "span",
            { class: "with-mark" },
            breaches > 0
              ? toneMark("bad", "cross", "broken")
              : checks > 0
                ? toneMark("good", "check", "held")
                : toneMark("open", "dash", "not looked at"),
            el("code", {}, id),
          ),
          number(checks),
          number(breaches),
          [knownRequirement(id)?.sentence ?? "", note !== undefined && el("div", { class: "soft" }, note)],
        ]),
        [1, 2],
      );

/** What was pushed while the load ran, by how often each notification was. */
export const loadPushes = ({ pushes }: LoadRecord): readonly Child[] => {
  if (pushes === undefined) return [];
  const { events, acknowledged, attempts, deliveryDelay } = pushes;
  return [
    el("h4", {}, "Pushes"),
    el(
      "p",
      {},
      `${plural(pushes.pushes, "push", "pushes")} for ${plural(events, "event")}, ${number(acknowledged)} of which were acknowledged (${percent(events === 0 ? 0 : acknowledged / events)}).`,
      deliveryDelay !== undefined &&
        ` From its event to its first push it took ${latency(deliveryDelay.p50Ms)} in the median, ${latency(deliveryDelay.p99Ms)} at p99, ${latency(deliveryDelay.maxMs)} at most.`,
    ),
    table(
      "Notifications by how often each was pushed",
      ["Pushed", "Notifications"],
      Object.entries(attempts).map(([times, count]) => [plural(Number(times), "time"), number(count)]),
      [1],
    ),
  ];
};
