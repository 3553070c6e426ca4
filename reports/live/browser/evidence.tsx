import { safe } from "../../text/safe.ts";

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
  readonly answer: string;
}

/** Exchanges of a breach, each of which unfolds to its bodies. */
export const Evidence = ({ exchanges }: { exchanges: readonly Shown[] }) => (
  <ol class="exchanges">
    {exchanges.map(({ method, path, body, answer }, at) => (
      <li key={at}>
        <details>
          <summary>
            <b>{safe(method)}</b> <code>{safe(path)}</code>
          </summary>
          <pre tabIndex={0}>
            {body === undefined ? "" : `${safe(body)}\n\n`}
            {safe(answer)}
          </pre>
        </details>
      </li>
    ))}
  </ol>
);
