import { exampleNotification } from "../model/example.ts";
import { isUnacknowledged } from "../model/filter.ts";
import { clockTime, count, plural } from "../model/format.ts";
import type { Store } from "../model/store.ts";

export const Counts = ({ store, shown }: { store: Store; shown: number }) => {
  const { counts, notifications } = store;
  let open = 0;
  for (const notification of notifications.values()) if (isUnacknowledged(notification)) open += 1;
  const words = [
    `${shown === notifications.size ? "" : `${count(shown)} of `}${plural(notifications.size, "notification")}`,
    plural(counts.pushes, "push", "pushes"),
    `${count(open)} unacknowledged`,
    ...(counts.dropped > 0 ? [`${count(counts.dropped)} oldest no longer shown`] : []),
  ];
  return (
    <p id="counts" class="counts">
      {words.join(" · ")}
    </p>
  );
};

export const Empty = ({ isFiltered, callbackUrl }: { isFiltered: boolean; callbackUrl: string }) => (
  <div class="empty">
    <p id="empty-words">
      {isFiltered ? "No rows match the filters." : "No pushes have arrived yet. Send one:"}
    </p>
    {!isFiltered && callbackUrl !== "" && (
      <pre tabIndex={0} role="group" aria-label="A command that sends a push">
        {exampleFor(callbackUrl)}
      </pre>
    )}
  </div>
);

/** A push that readers can send immediately. */
const exampleFor = (callbackUrl: string): string => {
  const body = { ...exampleNotification, id: "3f0c6c1e-8a51-4a53-9d0e-0d6a5b6f2c11" };
  const trust = callbackUrl.startsWith("https:") ? " --insecure" : "";
  const lines = [
    `curl${trust} ${callbackUrl}`,
    "--header 'content-type: application/json'",
    `--data '${JSON.stringify(body)}'`,
  ];
  return lines.join(" \\\n  ");
};

/** Events of the receiver, newest first. */
const Remarks = ({ store: { counts, remarks } }: { store: Store }) => (
  <details class="remarks">
    <summary>{counts.faults === 0 ? "Receiver" : `Receiver: ${plural(counts.faults, "fault")}`}</summary>
    <ol id="remarks">
      {remarks.toReversed().map(({ n, kind, message, wallMs }) => (
        <li key={n} class={kind}>
          {`${clockTime(wallMs)}  ${message}`}
        </li>
      ))}
    </ol>
  </details>
);

const legend = [
  ["good", "acknowledged"],
  ["bad", "answered otherwise"],
  ["cross", "no answer"],
  ["window", "expected"],
  ["ring", "off schedule"],
] as const;

export const Footer = ({ store }: { store: Store }) => (
  <footer class="foot">
    <ul class="legend" aria-label="Legend">
      {legend.map(([look, words]) => (
        <li key={look}>
          <i class={`key ${look}`} aria-hidden="true">
            {look === "cross" && "×"}
          </i>
          {words}
        </li>
      ))}
    </ul>
    <Remarks store={store} />
  </footer>
);
