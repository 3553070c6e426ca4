import { everything, type Filter } from "../model/filter.ts";
import { documentDelaysMs, parseDelays, readings, type Schedule } from "../model/schedule.ts";
import { byId, element } from "./dom.ts";
import { remember, remembered } from "./theme.ts";

export interface Controls {
  readonly filter: () => Filter;
  readonly schedule: () => Schedule;
  readonly setAccount: (accountId: string) => void;
  /** Offers these accounts; the newest few suffice, the rest can be typed. */
  readonly offerAccounts: (accounts: readonly string[]) => void;
}

const readingKey = "touchstone.reading";
const delaysKey = "touchstone.delays";

const inSeconds = (delaysMs: readonly number[]): string => delaysMs.map((delay) => delay / 1_000).join(", ");

/** The reading that nothing was chosen against: R1. */
const readingOf = (id: string | undefined): Schedule["reading"] => {
  const found = readings.find((reading) => reading.id === id) ?? readings[0];
  if (found === undefined) throw new TypeError("There are no readings");
  return found;
};

const startSchedule = (onChange: () => void): (() => Schedule) => {
  const choice = byId("reading", HTMLSelectElement);
  const delays = byId("delays", HTMLInputElement);
  choice.append(...readings.map(({ id, words }) => element("option", { value: id }, `${id}: ${words}`)));
  choice.value = readingOf(remembered(readingKey)).id;
  const stored = parseDelays(remembered(delaysKey) ?? "");
  let schedule: Schedule = { reading: readingOf(choice.value), delaysMs: stored ?? documentDelaysMs };
  delays.value = inSeconds(schedule.delaysMs);

  choice.addEventListener("change", () => {
    schedule = { ...schedule, reading: readingOf(choice.value) };
    remember(readingKey, choice.value);
    onChange();
  });
  delays.addEventListener("change", () => {
    const delaysMs = delays.value.trim() === "" ? documentDelaysMs : parseDelays(delays.value);
    delays.setAttribute("aria-invalid", String(delaysMs === undefined));
    if (delaysMs === undefined) return;
    schedule = { ...schedule, delaysMs };
    delays.value = inSeconds(delaysMs);
    remember(delaysKey, delays.value);
    onChange();
  });
  return () => schedule;
};

/** The tools over the grid: what is shown, and by which schedule it is judged. */
export const startControls = (onChange: () => void): Controls => {
  const text = byId("filter", HTMLInputElement);
  const account = byId("account", HTMLInputElement);
  const unacknowledged = byId("unacknowledged", HTMLInputElement);
  const order = byId("order", HTMLSelectElement);
  const accounts = byId("accounts", HTMLDataListElement);
  let filter = everything;
  let offered = "";

  const read = (): void => {
    filter = {
      text: text.value,
      account: account.value,
      onlyUnacknowledged: unacknowledged.checked,
      newestFirst: order.value === "newest",
    };
    onChange();
  };
  for (const control of [text, account, unacknowledged, order]) control.addEventListener("input", read);

  return {
    filter: () => filter,
    schedule: startSchedule(onChange),
    setAccount: (accountId) => {
      account.value = accountId;
      read();
    },
    offerAccounts: (next) => {
      const signature = next.join("\n");
      if (signature === offered) return;
      offered = signature;
      accounts.replaceChildren(...next.map((value) => element("option", { value })));
    },
  };
};
