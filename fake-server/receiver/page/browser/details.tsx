import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PushLine } from "../../../../conformance/contract/push.ts";
import { errorMessage } from "../../../../conformance/contract/text.ts";
import { clockTime, span } from "../model/format.ts";
import { answerText, bodyNote, facts, outcomeOf, requestText } from "../model/raw.ts";
import type { Progress } from "../model/progress.ts";
import type { Attempt, Notification } from "../model/store.ts";
import type { Feed } from "./feed.ts";
import { Field, Table, TaskForm, Text } from "./parts.tsx";
import { harmless } from "../../../../conformance/contract/harmless-text.ts";
import { remember, remembered } from "../../../../web/browser/theme.tsx";
import { type Outcome, outcomeWords } from "../model/answers.ts";
import { differencesOf } from "../model/difference.ts";

export interface DetailsProps {
  readonly notification: Notification;
  readonly progress: Progress;
  readonly feed: Feed;
  readonly onClose: () => void;
  readonly onAccount: (accountId: string) => void;
}

type PushOf = Extract<PushLine, { kind: "push" }>;
type ReadPush = PushOf | string | undefined;

/** The line of a push, or why it is unavailable; undefined while it is read. */
const useLine = (feed: Feed, n: number | undefined): ReadPush => {
  const [read, setRead] = useState<{ readonly n: number; readonly push: ReadPush }>();
  useEffect(() => {
    if (n === undefined) return;
    feed.line(n).then(
      (line) => setRead({ n, push: line?.kind === "push" ? line : "The receiver no longer has this push." }),
      (error: unknown) =>
        setRead({ n, push: harmless(`The push could not be read: ${errorMessage(error)}`) }),
    );
  }, [n]);
  return read?.n === n ? read?.push : undefined;
};

interface RawTextProps {
  readonly title: string;
  readonly name: string;
  readonly text: string;
  readonly note?: string;
}

const RawText = ({ title, name, text, note = "" }: RawTextProps) => (
  <section aria-label={title}>
    <h3>{title}</h3>
    {note !== "" && <p class="note">{note}</p>}
    {/* Long texts scroll, so they must be reachable by keyboard. */}
    <pre class={name} tabIndex={0} role="group" aria-label={`${title}, raw`}>
      {text}
    </pre>
  </section>
);

const RawPush = ({ push, attempt }: { push: PushOf; attempt: Attempt }) => (
  <>
    <dl>
      {facts(push, attempt).map(([term, value]) => (
        <>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
    <RawText title="Request" name="request" text={requestText(push)} note={bodyNote(push)} />
    <RawText title="Answer" name="answer" text={answerText(push, attempt)} />
  </>
);

interface OtherPushProps {
  readonly attempts: readonly Attempt[];
  readonly chosen: number;
  readonly compared: number;
  readonly onChoose: (index: number) => void;
}

/** The push of the notification to compare the chosen one with. */
const OtherPush = ({ attempts, chosen, compared, onChoose }: OtherPushProps) => (
  <p class="other">
    <Field label="Compare with">
      <select
        id="compared"
        value={compared}
        onChange={({ currentTarget: { value } }) => onChoose(Number(value))}
      >
        {attempts.map(
          (attempt, index) =>
            index !== chosen && (
              <option key={attempt.n} value={index} selected={index === compared}>
                {`Push ${index + 1}: ${outcomeOf(attempt)}`}
              </option>
            ),
        )}
      </select>
    </Field>
  </p>
);

interface PushDetailsProps {
  readonly attempts: readonly Attempt[];
  readonly chosen: number;
  readonly feed: Feed;
}

/** One push: request and answer, its differences from another push of the notification, and how to send it again. */
const PushDetails = ({ attempts, chosen, feed }: PushDetailsProps) => {
  const [asked, compareWith] = useState<number>();
  const attempt = attempts[chosen];
  // By default compares with the previous push, and the first push with the second.
  const compared = asked !== undefined && asked !== chosen ? asked : chosen === 0 ? 1 : chosen - 1;
  const push = useLine(feed, attempt?.n);
  const other = useLine(feed, attempts[compared]?.n);
  if (attempt === undefined || push === undefined) return null;
  if (typeof push === "string") return <p class="note">{push}</p>;
  return (
    <>
      <RawPush push={push} attempt={attempt} />
      {attempts.length > 1 && (
        <section aria-label="Differences">
          <h3>Compared with another push</h3>
          <OtherPush attempts={attempts} chosen={chosen} compared={compared} onChoose={compareWith} />
          {typeof other === "object" && <Differences push={push} other={other} number={compared + 1} />}
          {typeof other === "string" && <p class="note">{other}</p>}
        </section>
      )}
      <Replay feed={feed} n={push.n} />
    </>
  );
};

const expectedText = ({ windows }: Progress, index: number): string => {
  const window = windows[index];
  if (window === undefined) return "–";
  return index === 0 ? "0" : `${span(Math.max(window.earliestMs, 0))} to ${span(window.latestMs)}`;
};

interface PushTableProps {
  readonly attempts: readonly Attempt[];
  readonly progress: Progress;
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
}

const PushTable = ({ attempts, progress, chosen, onChoose }: PushTableProps) => {
  const cellsOf = (attempt: Attempt, index: number): ComponentChildren[] => {
    const start = progress.spans[index]?.startMs ?? 0;
    const before = progress.spans[index - 1]?.startMs;
    const timing = progress.timings[index] ?? "on-time";
    return [
      <button
        type="button"
        aria-pressed={index === chosen}
        aria-label={`Push ${index + 1}: show request and answer`}
        onClick={() => onChoose(index)}
      >
        {index + 1}
      </button>,
      clockTime(attempt.startMs),
      index === 0 ? "0" : span(start),
      before === undefined ? "–" : span(start - before),
      expectedText(progress, index),
      <>
        {outcomeOf(attempt)}{" "}
        {timing !== "on-time" && <span class="badge alarm">{timing.replaceAll("-", " ")}</span>}
      </>,
    ];
  };
  const columns = ["Push", "At", "Since first", "Gap", "Expected since first", "Outcome"];
  return <Table label="Pushes of this notification" columns={columns} rows={attempts.map(cellsOf)} />;
};

export const Details = ({ notification, progress, feed, onClose, onAccount }: DetailsProps) => {
  const { id, accountId, summary, attempts } = notification;
  const [chosen, choose] = useState(attempts.length - 1);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <aside
      id="details"
      class="details"
      aria-labelledby="details-title"
      onKeyDown={({ key }) => key === "Escape" && onClose()}
    >
      <div class="details-head">
        <h2 id="details-title" tabIndex={-1} ref={title}>
          {id ?? "No notification id"}
        </h2>
        <button type="button" aria-label="Close details" onClick={onClose}>
          Close
        </button>
      </div>
      <div class="about">
        {summary !== "" && <p>{summary}</p>}
        {accountId !== undefined && (
          <>
            <code>{accountId}</code>
            <button type="button" onClick={() => onAccount(accountId)}>
              Only this account
            </button>
          </>
        )}
      </div>
      <PushTable attempts={attempts} progress={progress} chosen={chosen} onChoose={choose} />
      <PushDetails attempts={attempts} chosen={chosen} feed={feed} />
    </aside>
  );
};

const urlKey = "touchstone.replay";

const Replay = ({ feed, n }: { feed: Feed; n: number }) => {
  const [url, setUrl] = useState(() => remembered(urlKey) ?? "http://127.0.0.1:3000/webhook");
  const replay = async (): Promise<string> => {
    remember(urlKey, url);
    const { omitted, outcome } = (await feed.call("POST", "replay", { push: n, url })) as {
      readonly omitted: readonly string[];
      readonly outcome: Outcome;
    };
    const without = omitted.length === 0 ? "" : `, without ${omitted.join(", ")}`;
    return `Sent${without}: ${outcomeWords(outcome)}.`;
  };
  return (
    <section aria-label="Replay">
      <h3>Send again to an address on this machine</h3>
      <TaskForm label="Replay" button="Replay" task={replay}>
        <Field label="Address" kind="grow">
          <Text id="replay-url" value={url} onText={setUrl} />
        </Field>
      </TaskForm>
    </section>
  );
};

const Differences = ({ push, other, number }: { push: PushOf; other: PushOf; number: number }) => {
  const found = differencesOf(other, push);
  if (found.length === 0) return <p class="same">Method, path, headers and body are equal.</p>;
  return (
    <Table
      label={`What differs from push ${number}`}
      name="differences"
      columns={["Where", `Push ${number}`, "This push"]}
      rows={found.map(({ where, before = "–", after = "–" }) => [where, before, after].map(harmless))}
    />
  );
};
