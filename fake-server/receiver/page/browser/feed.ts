import type { PushLine, PushLines, PushPlan, ReceiverState } from "../../../../conformance/contract/push.ts";
import { errorMessage } from "../../../../conformance/contract/text.ts";
import { createStore } from "../rows.ts";
import { nowMs, pause } from "./clock.ts";

/** The token may come in the fragment, which browsers never send; it is removed from the address immediately. */
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
if (token !== "") history.replaceState(undefined, "", location.pathname + location.search);
addEventListener("hashchange", () => location.reload());

const ask = async <Answer>(path: string, init: RequestInit = {}): Promise<Answer> => {
  const headers = new Headers(token === "" ? {} : { authorization: `Bearer ${token}` });
  if (init.body !== undefined) headers.set("content-type", "application/json");
  const response = await fetch(path, { ...init, headers });
  if (response.status === 401) throw new Error("A token is required: add #token=… to the address");
  if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
  return response.json() as Answer;
};

const linesAfter = (after: number, waitMs: number, limit: number): Promise<PushLines> =>
  ask(`pushes?after=${after}&wait=${waitMs}&limit=${limit}`);

/** Follows a receiver by its control interface; calls `onChange` after any change. */
export const openFeed = (onChange: () => void) => {
  const feed = {
    store: createStore(),
    status: "Connecting",
    callbackUrl: "",
    plan: undefined as PushPlan | undefined,
    /** The receiver's wall clock. */
    nowMs,
    line: async (n: number): Promise<PushLine | undefined> =>
      (await linesAfter(n - 1, 0, 1)).lines.find((line) => line.n === n),
    setPlan: (plan: PushPlan): void => {
      feed.plan = plan;
      ask("plan", { method: "PUT", body: JSON.stringify(plan) })
        .catch((error: unknown) => (feed.status = errorMessage(error)))
        .finally(onChange);
    },
  };
  let [known, after] = ["", 0];
  const begin = async (): Promise<void> => {
    const { callbackUrl, epoch, nowMs: receiverMs } = await ask<ReceiverState>("state");
    // Another process answers: its numbers may mean other lines.
    if (epoch !== known) [feed.store, known, after] = [createStore(), epoch, 0];
    const zeroMs = nowMs() - receiverMs;
    // Its own first line may be gone already.
    feed.store.add({ kind: "started", n: 0, epoch, at: new Date(zeroMs).toISOString(), atMs: 0 });
    feed.callbackUrl = callbackUrl;
    feed.nowMs = () => feed.store.wallMs(epoch, nowMs() - zeroMs);
    feed.plan = await ask("plan");
    feed.status = "Live";
  };
  const readOn = async (): Promise<void> => {
    const { epoch, lines, last } = await linesAfter(after, 20_000, 1_000);
    if (epoch !== known) return begin();
    for (const line of lines) feed.store.add(line);
    // Empty although there is a newer line: the lines between are no longer available.
    after = lines.at(-1)?.n ?? last;
    if (after >= last) feed.plan = await ask("plan");
  };
  const follow = async (): Promise<never> => {
    for (;;) {
      try {
        await (feed.status === "Live" ? readOn() : begin());
      } catch (error) {
        feed.status = error instanceof TypeError ? "Not connected, trying again" : errorMessage(error);
        await pause(1_000);
      }
      onChange();
    }
  };
  void follow();
  return feed;
};
