import type { ReceiverState } from "../../../../conformance/contract/push.ts";
import { plural } from "../model/format.ts";
import { createStore } from "../model/store.ts";
import { every, nowMs } from "./clock.ts";
import { type Connection, openFeed } from "./feed.ts";

/** What the page knows about its receiver. The store changes in place; `version` says when. */
export type Session = ReturnType<typeof openSession>;

const words: Readonly<Record<Connection, string>> = {
  live: "Live",
  reading: "Reading the journal",
  paused: "Paused",
  lost: "Not connected, trying again",
  locked: "A token is required",
};

/** Calls `draw` with the next frame, however often it is requested. */
const withNextFrame = (draw: () => void): (() => void) => {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
};

/** Follows a receiver and calls `onChange` with the next frame after any change, and once a second. */
export const openSession = (token: string, onChange: () => void) => {
  let store = createStore();
  let state: ReceiverState | undefined;
  let connection: Connection = "reading";
  let [version, stateReadAtMs] = [0, 0];
  const redraw = withNextFrame(onChange);
  const changed = (): void => {
    version += 1;
    redraw();
  };
  const feed = openFeed(token, {
    onState: (next) => {
      [state, stateReadAtMs] = [next, nowMs()];
      store.presume(next.epoch, stateReadAtMs - next.nowMs);
      redraw();
    },
    onLines: (lines) => {
      for (const line of lines) store.add(line);
      if (lines.length > 0) changed();
    },
    onRestart: () => {
      store = createStore();
      changed();
    },
    onConnection: (next) => {
      connection = next;
      redraw();
    },
  });
  every(1_000, redraw);

  return {
    feed,
    store: () => store,
    version: () => version,
    connection: () => connection,
    connectionWords: (): string => {
      const waiting = connection === "paused" ? (state?.last ?? 0) - store.counts.last : 0;
      return words[connection] + (waiting > 0 ? `, ${plural(waiting, "line")} waiting` : "");
    },
    /** Empty until known. */
    callbackUrl: () => state?.callbackUrl ?? "",
    /** The receiver's wall clock. */
    nowMs: (): number => {
      const receiverMs = state === undefined ? undefined : store.wallMs(state.epoch, state.nowMs);
      return receiverMs === undefined ? nowMs() : receiverMs + nowMs() - stateReadAtMs;
    },
  };
};
