import { isUnacknowledged } from "../model/filter.ts";
import { clockTime, count, plural } from "../model/format.ts";
import type { Notification, Store } from "../model/store.ts";
import { byId, element, setText } from "./dom.ts";

/** Accounts that the filter offers; others can be typed. */
const offeredAccounts = 50;

/** How much there is, and what to do where there is nothing to show. */
export const drawCounts = ({ counts, notifications }: Store, shown: number): void => {
  let open = 0;
  for (const notification of notifications.values()) if (isUnacknowledged(notification)) open += 1;
  const words = [
    `${shown === notifications.size ? "" : `${count(shown)} of `}${plural(notifications.size, "notification")}`,
    plural(counts.pushes, "push", "pushes"),
    `${count(open)} unacknowledged`,
    ...(counts.dropped > 0 ? [`${count(counts.dropped)} oldest no longer shown`] : []),
  ];
  setText(byId("counts", HTMLParagraphElement), words.join(" · "));
  const none = notifications.size === 0;
  byId("empty", HTMLDivElement).hidden = shown > 0;
  byId("example", HTMLPreElement).hidden = !none;
  const advice = none ? "No push has come yet. Send one:" : "No row fits the filters.";
  setText(byId("empty-words", HTMLParagraphElement), advice);
};

export const newestAccounts = (rows: readonly Notification[]): string[] => {
  const accounts = new Set<string>();
  for (const { accountId } of rows.slice(0, 500)) {
    if (accountId !== undefined) accounts.add(accountId);
    if (accounts.size >= offeredAccounts) break;
  }
  return [...accounts];
};

/** What the receiver tells of itself, newest first. */
export const drawRemarks = ({ counts, remarks }: Store): void => {
  const title = counts.faults === 0 ? "Receiver" : `Receiver: ${plural(counts.faults, "fault")}`;
  setText(byId("remarks-title", HTMLSpanElement), title);
  const items = remarks
    .toReversed()
    .map(({ kind, message, wallMs }) => element("li", { class: kind }, `${clockTime(wallMs)}  ${message}`));
  byId("remarks", HTMLOListElement).replaceChildren(...items);
};

/** A push that a reader can send at once. */
export const showExample = (callbackUrl: string): void => {
  const body = {
    id: "3f0c6c1e-8a51-4a53-9d0e-0d6a5b6f2c11",
    accountId: "b1b9f2f4-64d2-4c0e-8a0b-5f5e7a3d9c20",
    createTime: "2026-01-31T09:30:00.000Z",
    businessType: "CreateGlobalAccount",
    businessStatus: "Passed",
    remark: "",
    data: "",
    status: "readed",
  };
  const trust = callbackUrl.startsWith("https:") ? " --insecure" : "";
  const lines = [
    `curl${trust} ${callbackUrl}`,
    "--header 'content-type: application/json'",
    `--data '${JSON.stringify(body)}'`,
  ];
  setText(byId("example", HTMLPreElement), lines.join(" \\\n  "));
};
