import type { TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import type { Filter } from "../model/filter.ts";
import { documentDelaysMs, parseDelays, readings, type Schedule } from "../model/schedule.ts";
import type { Notification } from "../model/store.ts";
import type { Session } from "./session.ts";
import { remember, remembered } from "../../../../web/browser/theme.tsx";
import { pause } from "./clock.ts";
import { Field } from "./parts.tsx";

const readingKey = "touchstone.reading";
const delaysKey = "touchstone.delays";

const inSeconds = (delaysMs: readonly number[]): string => delaysMs.map((delay) => delay / 1_000).join(", ");

/** R1 by default. */
const readingOf = (id: string | undefined): Schedule["reading"] => {
  const found = readings.find((reading) => reading.id === id) ?? readings[0];
  if (found === undefined) throw new TypeError("There are no readings");
  return found;
};

/** The schedule last chosen in this browser. */
export const rememberedSchedule = (): Schedule => ({
  reading: readingOf(remembered(readingKey)),
  delaysMs: parseDelays(remembered(delaysKey) ?? "") ?? documentDelaysMs,
});

interface ScheduleProps {
  readonly schedule: Schedule;
  readonly onSchedule: (schedule: Schedule) => void;
}

const ScheduleTools = ({ schedule, onSchedule }: ScheduleProps) => {
  const [isInvalid, setInvalid] = useState(false);
  const chooseReading = (id: string): void => {
    remember(readingKey, id);
    onSchedule({ ...schedule, reading: readingOf(id) });
  };
  const takeDelays = (input: HTMLInputElement): void => {
    const delaysMs = input.value.trim() === "" ? documentDelaysMs : parseDelays(input.value);
    setInvalid(delaysMs === undefined);
    if (delaysMs === undefined) return;
    input.value = inSeconds(delaysMs);
    remember(delaysKey, input.value);
    onSchedule({ ...schedule, delaysMs });
  };
  return (
    <>
      <Field label="Schedule">
        <select
          id="reading"
          value={schedule.reading.id}
          onChange={({ currentTarget }) => chooseReading(currentTarget.value)}
        >
          {readings.map(({ id, words }) => (
            <option key={id} value={id}>{`${id}: ${words}`}</option>
          ))}
        </select>
      </Field>
      <Field label="Delays, s">
        <input
          id="delays"
          class="delays"
          inputMode="decimal"
          autoComplete="off"
          spellcheck={false}
          aria-invalid={isInvalid}
          defaultValue={inSeconds(schedule.delaysMs)}
          onChange={({ currentTarget }) => takeDelays(currentTarget)}
        />
      </Field>
    </>
  );
};

interface FilterProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly rows: readonly Notification[];
}

/** Number of accounts offered by the filter; others can be typed. */
const offeredAccounts = 50;

const newestAccounts = (rows: readonly Notification[]): string[] => {
  const accounts = new Set<string>();
  for (const { accountId } of rows.slice(0, 500)) {
    if (accountId !== undefined) accounts.add(accountId);
    if (accounts.size >= offeredAccounts) break;
  }
  return [...accounts];
};

const FilterTools = ({ filter, onFilter, rows }: FilterProps) => {
  const search = (key: "text" | "account", placeholder: string) => ({
    placeholder,
    spellcheck: false,
    value: filter[key],
    onInput: ({ currentTarget: { value } }: TargetedEvent<HTMLInputElement>) =>
      onFilter({ ...filter, [key]: value }),
  });
  return (
    <>
      <Field label="Filter" kind="grow">
        <input id="filter" type="search" {...search("text", "id, account, status, type")} />
      </Field>
      <Field label="Account">
        <input id="account" type="search" list="accounts" {...search("account", "all")} />
      </Field>
      <datalist id="accounts">
        {newestAccounts(rows).map((account) => (
          <option key={account} value={account} />
        ))}
      </datalist>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.onlyUnacknowledged}
          onInput={({ currentTarget }) => onFilter({ ...filter, onlyUnacknowledged: currentTarget.checked })}
        />
        <span>Only unacknowledged</span>
      </label>
      <Field label="Order">
        <select
          value={filter.newestFirst ? "newest" : "oldest"}
          onInput={({ currentTarget: { value } }) => onFilter({ ...filter, newestFirst: value === "newest" })}
        >
          <option value="newest">Newest first</option>
          <option value="oldest">Oldest first</option>
        </select>
      </Field>
    </>
  );
};

/** Some browsers read a download only after the click has been handled. */
const downloadStartsWithinMs = 60_000;

const download = async (session: Session): Promise<void> => {
  const href = URL.createObjectURL(await session.feed.journal());
  Object.assign(document.createElement("a"), { href, download: "pushes.jsonl" }).click();
  await pause(downloadStartsWithinMs, new AbortController().signal);
  URL.revokeObjectURL(href);
};

export const FeedTools = ({ session }: { session: Session }) => {
  const [isPaused, setPaused] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const togglePaused = (): void => {
    setPaused(!isPaused);
    session.feed.setPaused(!isPaused);
  };
  const save = (): void => {
    setFailed(false);
    download(session).catch(() => setFailed(true));
  };
  return (
    <>
      <button type="button" id="pause" aria-pressed={isPaused} onClick={togglePaused}>
        {isPaused ? "Go on" : "Pause"}
      </button>
      <button type="button" id="download" title="Download the journal, pushes.jsonl" onClick={save}>
        {hasFailed ? "Download failed" : "Download"}
      </button>
    </>
  );
};

/** The tools above the grid: filters, and the schedule to judge by. Folded on small screens. */
export const Tools = (props: FilterProps & ScheduleProps) => (
  <details class="fold shown" open={matchMedia("(min-width: 701px)").matches}>
    <summary>Filter and schedule</summary>
    <div class="tools" role="group" aria-label="What is shown">
      <FilterTools {...props} />
      <ScheduleTools {...props} />
    </div>
  </details>
);
