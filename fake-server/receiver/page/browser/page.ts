import type { ReceiverState } from "../../../../conformance/contract/push.ts";
import { select } from "../model/filter.ts";
import { plural } from "../model/format.ts";
import { type Standing, standingOf } from "../model/standing.ts";
import { createStore, type Notification } from "../model/store.ts";
import { every, nowMs } from "./clock.ts";
import { startButtons } from "./buttons.ts";
import { startControls } from "./controls.ts";
import { createDetails } from "./details.ts";
import { byId, setText } from "./dom.ts";
import { type Connection, openFeed } from "./feed.ts";
import { createGrid } from "./grid.ts";
import { row } from "./row.ts";
import { drawCounts, drawRemarks, newestAccounts, showExample } from "./summary.ts";
import { startTheme } from "./theme.ts";
import { type Axis, axisLabels } from "./timeline.ts";

const connectionWords: Readonly<Record<Connection, string>> = {
  live: "Live",
  reading: "Reading the journal",
  paused: "Paused",
  lost: "Not connected, trying again",
  locked: "A token is needed",
};

/** The token may come in the fragment, which no browser sends anywhere; it is taken out of the address at once. */
const takeToken = (): string => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  if (token !== "") history.replaceState(undefined, "", location.pathname);
  return token;
};

let store = createStore();
let state: ReceiverState | undefined;
/** How far the receiver's clock is ahead of the browser's. */
let aheadMs = 0;
let rows: readonly Notification[] = [];
let stale = true;
let scheduled = false;

const receiverNowMs = (): number => nowMs() + aheadMs;

const standing = (notification: Notification): Standing =>
  standingOf(notification, controls.schedule(), receiverNowMs());

/** A little longer than the schedule, so that a push too many is seen too. */
const axis = (): Axis => {
  const { delaysMs, reading } = controls.schedule();
  const instantsMs = reading.offsetsMs(delaysMs);
  return { instantsMs, lengthMs: (instantsMs.at(-1) ?? 0) * 1.1 };
};

const draw = (): void => {
  scheduled = false;
  if (stale) {
    stale = false;
    rows = select(store.notifications.values(), controls.filter());
    grid.show(rows);
    drawCounts(store, rows.length);
    drawRemarks(store);
    controls.offerAccounts(newestAccounts(rows));
  } else grid.draw();
  details.refresh();
};

/** Draws with the next frame, however often it is asked for. */
const redraw = (): void => {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(draw);
};

const changed = (): void => {
  stale = true;
  redraw();
};

const drawAxis = (): void => {
  const cell = byId("axis", HTMLDivElement);
  cell.querySelector(".axis")?.remove();
  cell.append(axisLabels(axis()));
};

const showConnection = (connection: Connection): void => {
  const shown = byId("connection", HTMLParagraphElement);
  shown.dataset["state"] = connection;
  const waiting = state === undefined ? 0 : Math.max(0, state.last - store.counts.last);
  const more = connection === "paused" && waiting > 0 ? `, ${plural(waiting, "line")} to come` : "";
  setText(shown, `${connectionWords[connection]}${more}`);
  const form = byId("token-form", HTMLFormElement);
  if (connection !== "locked") form.hidden = true;
  else if (form.hidden) {
    form.hidden = false;
    byId("token", HTMLInputElement).focus();
  }
};

let connection: Connection = "reading";

const feed = openFeed(takeToken(), {
  onState: (next) => {
    store.presume(next.epoch, nowMs() - next.nowMs);
    showState(next);
  },
  onLines: (lines) => {
    for (const line of lines) store.add(line);
    if (lines.length > 0) changed();
  },
  onRestart: () => {
    store = createStore();
    details.close();
    changed();
  },
  onConnection: (next) => {
    connection = next;
    showConnection(next);
  },
});

const controls = startControls(() => {
  drawAxis();
  changed();
});

const grid = createGrid(
  (notification) => {
    const now = receiverNowMs();
    const schedule = controls.schedule();
    const found = standingOf(notification, schedule, now);
    const moving = found.kind === "waiting" ? Math.floor(now / 1_000) : 0;
    const { attempts, more } = notification;
    const ends = attempts.map(({ outcome }) => outcome ?? "").join();
    const parts = [
      attempts.length,
      more,
      ends,
      found.words,
      moving,
      schedule.reading.id,
      ...schedule.delaysMs,
    ];
    return { signature: parts.join(" "), draw: () => row(notification, found, axis(), now) };
  },
  (notification) => {
    grid.setOpen(notification.key);
    details.open(notification);
  },
);

const details = createDetails({
  feed,
  standingOf: standing,
  onClose: () => {
    grid.setOpen(undefined);
    grid.focus();
  },
  onAccount: (accountId) => controls.setAccount(accountId),
});

const showState = (next: ReceiverState): void => {
  state = next;
  const receiverMs = store.wallMs(next.epoch, next.nowMs);
  if (receiverMs !== undefined) aheadMs = receiverMs - nowMs();
  setText(byId("callback", HTMLElement), next.callbackUrl);
  showExample(next.callbackUrl);
  showConnection(connection);
};

/** Keeps the two clocks together and counts what waits while paused; the feed notices a lost receiver. */
const readState = async (): Promise<void> => {
  if (connection === "lost" || connection === "locked") return;
  await feed.state().then(showState, () => {});
};

startTheme();
startButtons(feed, () => state?.callbackUrl ?? "");
drawAxis();
changed();
every(1_000, redraw);
every(2_000, () => void readState());
