import { render } from "preact";
import { documentLimits } from "../../../../conformance/contract/limits.ts";
import { duration } from "../../../../conformance/contract/duration.ts";
import type { Push, PushPlan } from "../../../../conformance/contract/push.ts";
import { type ReadingName, readingNames } from "../../../../conformance/judging/pushes/readings.ts";
import {
  isAcknowledged,
  offsetsMs,
  type Progress,
  progressOf,
  type Attempt,
  type Notification,
  answerText,
  endOf,
  plans,
  requestText,
} from "../rows.ts";
import { every } from "./clock.ts";
import { openFeed } from "./feed.ts";

/** What the reader chose. Everything is drawn again after each change, and each second. */
const view = {
  reading: "R1" as ReadingName,
  /** Key of the row that is open, number of its push that is shown, and that push once it is read. */
  row: "",
  n: 0,
  push: undefined as Push | string | undefined,
};

const draw = (): void => render(<Page />, document.body);
const feed = openFeed(draw);

const change = (changes: Partial<typeof view>): void => {
  Object.assign(view, changes);
  draw();
};

const choose = async (n: number): Promise<void> => {
  change({ n, push: undefined });
  const line = await feed.line(n).catch(() => undefined);
  const gone = "The receiver no longer has this push in memory; its journal has it.";
  if (view.n === n) change({ push: line?.kind === "push" ? line : gone });
};

/** Delays in seconds in the address, such as ?delays=1,2,4,8, stand for the document's. */
const asked = (new URLSearchParams(location.search).get("delays") ?? "").split(",").map(Number);
const delaysMs = asked.every((s) => s > 0) ? asked.map((s) => s * 1_000) : documentLimits.pushDelaysMs;
const offsets = (reading = view.reading): readonly number[] => offsetsMs({ reading, delaysMs });

const clockTime = (atMs = 0): string => new Date(atMs).toLocaleTimeString("en-GB");

const seconds = (reading?: ReadingName): readonly number[] => offsets(reading).map((ms) => ms / 1_000);
/** A position on the time axis, which is slightly longer than the schedule so that an excess push shows as well. */
const place = (atMs: number): number => {
  const lengthMs = (offsets().at(-1) ?? 0) * 1.1;
  return Math.min(Math.max(atMs / lengthMs, 0), 1) * 100;
};
const percent = (atMs: number): string => `${place(atMs).toFixed(2)}%`;

/** One shape per outcome, so that colour is never the only difference: a disc, a square, or a cross for no answer. */
const shapeOf = (attempt: Attempt): string => {
  if (isAcknowledged(attempt)) return "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z";
  return attempt.answer.status === undefined ? "M-4 -4l8 8M-4 4l8 -8" : "M-4 -4h8v8h-8z";
};

interface RowProps {
  readonly row: Notification;
  readonly progress: Progress;
}

const Lane = ({ row: { attempts }, progress: { kind, spans, timings, windows } }: RowProps) => {
  const age = percent(feed.nowMs() - (attempts[0]?.startMs ?? 0));
  return (
    <svg class="lane" aria-hidden="true">
      {windows.slice(1).map(({ earliestMs, latestMs }, index) => {
        const width = Math.max(place(latestMs) - place(earliestMs), 0.5);
        return (
          <rect
            key={index}
            class="window"
            x={percent(earliestMs)}
            width={`${width}%`}
            y="10%"
            height="80%"
            rx={2}
          />
        );
      })}
      {(kind === "waiting" || kind === "overdue") && (
        <line stroke-dasharray="2 2" x1={age} x2={age} y1={0} y2="100%" />
      )}
      {attempts.map((attempt, index) => {
        const { startMs = 0, endMs = 0 } = spans[index] ?? {};
        return (
          <g key={attempt.n} class={isAcknowledged(attempt) ? "good" : "bad"}>
            <line x1={percent(startMs)} x2={percent(endMs)} y1="50%" y2="50%" />
            <svg x={percent(startMs)} y="50%" overflow="visible">
              {timings[index] !== "on-time" && <circle class="bad" r={8} fill="none" />}
              <path d={shapeOf(attempt)} />
            </svg>
          </g>
        );
      })}
    </svg>
  );
};

const Axis = () => (
  <p class="row" aria-hidden="true">
    <span>Notifications, newest first; seconds since the first push</span>
    <svg class="lane">
      {offsets().map((at) => (
        <text key={at} x={percent(at)} y="70%" text-anchor="middle" stroke="none">
          {at / 1_000}
        </text>
      ))}
    </svg>
  </p>
);

const Details = ({ row: { attempts }, progress: { spans, timings } }: RowProps) => {
  const { n, push } = view;
  const attempt = attempts.find((one) => one.n === n);
  const words = (one: Attempt, index: number): string => {
    const at = index === 0 ? clockTime(one.startMs) : `after ${duration(spans[index]?.startMs ?? 0)}`;
    const off = timings[index] === "on-time" ? "" : `, ${timings[index]}`;
    return `${index + 1}. ${at}: ${endOf(one)}${off}`;
  };
  return (
    <div class="line">
      <div class="line">
        {attempts.map((one, index) => (
          <button key={one.n} type="button" aria-pressed={one.n === n} onClick={() => void choose(one.n)}>
            {words(one, index)}
          </button>
        ))}
      </div>
      {typeof push === "string" && <p>{push}</p>}
      {typeof push === "object" && attempt !== undefined && (
        <>
          {/* Long texts scroll, so they must be reachable by keyboard. */}
          <pre tabIndex={0} role="group" aria-label={`Request, its body in ${push.bodyEncoding}`}>
            {requestText(push)}
          </pre>
          <pre tabIndex={0} role="group" aria-label="Answer">
            {answerText(push, attempt)}
          </pre>
        </>
      )}
    </div>
  );
};

const Row = ({ row }: { row: Notification }) => {
  const progress = progressOf(row, { reading: view.reading, delaysMs }, feed.nowMs());
  const isOpen = row.key === view.row;
  const toggle = (): void => {
    change({ row: isOpen ? "" : row.key });
    if (!isOpen) void choose(row.attempts.at(-1)?.n ?? 0);
  };
  const off = [...new Set(progress.timings)].filter((timing) => timing !== "on-time");
  return (
    <li>
      <button type="button" class="row" aria-expanded={isOpen} onClick={toggle}>
        <span>
          <code>{row.id ?? "no id"}</code>
          <span class={progress.kind}>{progress.words}</span>
          {off.length > 0 && <span class="overdue">{`, with pushes ${off.join(", ")}`}</span>}
          <small>{`${clockTime(row.attempts[0]?.startMs)} ${row.about}`}</small>
        </span>
        <Lane row={row} progress={progress} />
      </button>
      {isOpen && <Details row={row} progress={progress} />}
    </li>
  );
};

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChoose: (value: string) => void;
}

const Choice = ({ label, value, options, onChoose }: ChoiceProps) => (
  <label>
    {label}{" "}
    <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {options.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  </label>
);

const Choices = () => {
  const { rules, otherwise, noNotification }: PushPlan = feed.plan ?? { rules: [] };
  const offered = plans.map(([words, one]): readonly [string, string] => [JSON.stringify(one), words]);
  const current = JSON.stringify({ rules, otherwise });
  const isOffered = offered.some(([value]) => value === current);
  return (
    <div class="line">
      <Choice
        label="Answer pushes with"
        value={current}
        options={isOffered ? offered : [[current, `another plan, of ${rules.length} rules`], ...offered]}
        onChoose={(value) => feed.setPlan({ ...(JSON.parse(value) as object), noNotification } as PushPlan)}
      />
      <Choice
        label="Pushes are due after"
        value={view.reading}
        options={readingNames.map((reading) => [reading, `${seconds(reading).join(", ")} s (${reading})`])}
        onChoose={(value) => change({ reading: value as ReadingName })}
      />
    </div>
  );
};

const Page = () => {
  const rows = [...feed.store.notifications.values()].toReversed();
  const { dropped, fault } = feed.store.seen;
  return (
    <main>
      <h1>Touchstone receiver</h1>
      <p role="status">
        {`${feed.status} `}
        <code>{feed.callbackUrl}</code>
      </p>
      <Choices />
      <Axis />
      <ul>
        {rows.map((row) => (
          <Row key={row.key} row={row} />
        ))}
      </ul>
      {rows.length === 0 && <p>No push has arrived yet.</p>}
      {dropped > 0 && <p>{`${dropped} older notifications are in the journal.`}</p>}
      {fault !== "" && <p>{`Last fault: ${fault}`}</p>}
    </main>
  );
};

every(1_000, draw);
