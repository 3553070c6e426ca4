import { elapsed, plural } from "../../text/figures.ts";
import { verdictOrder, wordOf } from "../../text/verdicts.ts";
import type { GateBegan } from "../protocol.ts";
import { Broken } from "./evidence.tsx";
import type { LiveState } from "./state.ts";

/** The gate: progress, breaches, and each rule as it is settled. */
export const Gate = ({ state, gate }: { state: LiveState; gate: GateBegan }) => {
  const { rules, outcomes } = state;
  const settled = new Map(rules.map((rule) => [rule.id, rule]));
  const running = gate.ids.filter((id) => !settled.has(id));
  return (
    <section aria-labelledby="gate">
      <h2 id="gate">Gate{outcomes.gate === undefined ? "" : `: ${outcomes.gate}`}</h2>
      <progress value={settled.size} max={gate.ids.length} aria-label="Settled rules" />
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
      {rules.flatMap(({ id, verdict, expected = "", actual = "", exchanges }) =>
        verdict === "failed" || verdict === "warned" ? (
          <Broken
            key={id}
            kind={verdict}
            rule={id}
            said={wordOf(verdict)}
            expected={expected}
            actual={actual}
            exchanges={exchanges}
          />
        ) : (
          []
        ),
      )}
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
