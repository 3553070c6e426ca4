import type { ExchangeRecord } from "../../../conformance/contract/record.ts";

interface BrokenRule {
  readonly kind: "failed" | "warned";
  readonly rule: string;
  readonly said: string;
  readonly expected: string;
  readonly actual: string;
  readonly exchanges: readonly ExchangeRecord[];
}

/** A broken rule with its exchanges, which unfold to their bodies. */
export const Broken = ({ kind, rule, said, expected, actual, exchanges }: BrokenRule) => (
  <article class={`card ${kind}`}>
    <h3>
      <code>{rule}</code> {said}
    </h3>
    <dl>
      <dt>Expected</dt>
      <dd>{expected}</dd>
      <dt>Seen</dt>
      <dd>{actual}</dd>
    </dl>
    <ol class="exchanges">
      {exchanges.map(({ n, request: { method, path, body }, answer, error }) => (
        <li key={n}>
          <details>
            <summary>
              <b>{method}</b> <code>{path}</code>
            </summary>
            <pre tabIndex={0}>
              {body === undefined ? "" : `${body}\n\n`}
              {answer === undefined ? (error ?? "no complete answer") : `${answer.status}\n${answer.text}`}
            </pre>
          </details>
        </li>
      ))}
    </ol>
  </article>
);
