import { elapsed, plural } from "../../text/figures.ts";
import { safe } from "../../text/safe.ts";
import { verdictOrder, wordOf } from "../../text/verdicts.ts";
import type { GateBegan, RuleSettled } from "../protocol.ts";
import { Evidence } from "./evidence.tsx";
import type { LiveState } from "./state.ts";

/** The gate: how far it is, what broke, and each rule as it settles. */
export const Gate = ({ state, gate }: { state: LiveState; gate: GateBegan }) => {
  const { rules, outcomes } = state;
  const settled = new Map(rules.map((rule) => [rule.id, rule]));
  const running = gate.ids.filter((id) => !settled.has(id));
  const broken = rules.filter(({ verdict }) => verdict === "failed" || verdict === "warned");
  return (
    <section aria-labelledby="gate">
      <h2 id="gate">Gate{outcomes.gate === undefined ? "" : `: ${outcomes.gate}`}</h2>
      <progress value={settled.size} max={gate.ids.length} aria-label="Rules that have settled" />
      <p id="gate-counts">
        {settled.size} of {plural(gate.ids.length, "rule")} settled
        {verdictOrder.map((kind) => {
          const count = rules.filter(({ verdict }) => verdict === kind).length;
          return count === 0 ? null : (
            <span key={kind} class={`badge ${kind}`}>
              {count} {wordOf(kind)}
            </span>
          );
        })}
      </p>
      {broken.map((rule) => (
        <Broken key={rule.id} rule={rule} />
      ))}
      <ul class="rules" aria-label="Rules">
        {running.map((id) => (
          <li key={id} class="running">
            <code>{id}</code>
          </li>
        ))}
        {rules.toReversed().map(({ id, verdict, durationMs }) => (
          <li key={id} class={verdict}>
            <code>{id}</code>
            <span class="soft">
              {wordOf(verdict)}, {elapsed(durationMs)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};

const Broken = ({ rule }: { rule: RuleSettled }) => (
  <article class={`card ${rule.verdict}`}>
    <h3>
      <code>{rule.id}</code> {wordOf(rule.verdict)}
    </h3>
    <dl>
      <dt>Expected</dt>
      <dd>{safe(rule.expected ?? "")}</dd>
      <dt>Seen</dt>
      <dd>{safe(rule.actual ?? "")}</dd>
    </dl>
    <Evidence
      exchanges={rule.exchanges.map(({ request, answer, error }) => ({
        ...request,
        answer: answer === undefined ? (error ?? "no whole answer") : `${answer.status}\n${answer.text}`,
      }))}
    />
  </article>
);
