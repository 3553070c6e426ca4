import { clockTime, span } from "../model/format.ts";
import { answerText, bodyNote, facts, outcomeOf, requestText } from "../model/raw.ts";
import type { Standing } from "../model/standing.ts";
import type { Attempt, Notification } from "../model/store.ts";
import { byId, element, setText } from "./dom.ts";
import type { Feed } from "./feed.ts";

export interface Details {
  readonly open: (notification: Notification) => void;
  /** Draws the list of pushes again where there are more of them. */
  readonly refresh: () => void;
  readonly close: () => void;
}

interface Choices {
  readonly feed: Feed;
  readonly standingOf: (notification: Notification) => Standing;
  readonly onClose: () => void;
  readonly onAccount: (accountId: string) => void;
}

const expectedText = ({ windows }: Standing, index: number): string => {
  const window = windows[index];
  if (window === undefined) return "–";
  return index === 0 ? "0" : `${span(Math.max(window.fromMs, 0))} to ${span(window.toMs)}`;
};

const cells = (attempt: Attempt, standing: Standing, index: number): HTMLElement[] => {
  const start = standing.spans[index]?.startMs ?? 0;
  const before = standing.spans[index - 1]?.startMs;
  const timing = standing.timings[index] ?? "on-time";
  const texts = [
    clockTime(attempt.startMs),
    index === 0 ? "0" : span(start),
    before === undefined ? "–" : span(start - before),
    expectedText(standing, index),
    outcomeOf(attempt),
  ];
  const shown = texts.map((text) => element("td", {}, text));
  if (timing !== "on-time") {
    shown.at(-1)?.append(" ", element("span", { class: "badge alarm" }, timing.replaceAll("-", " ")));
  }
  return shown;
};

const section = (title: string, name: string, text: string, note: string): HTMLElement =>
  element(
    "section",
    { "aria-label": title },
    element("h3", {}, title),
    ...(note === "" ? [] : [element("p", { class: "note" }, note)]),
    // Long texts scroll, so the keyboard has to reach them.
    element("pre", { class: name, tabindex: 0, role: "group", "aria-label": `${title}, raw` }, text),
  );

/** The panel with everything about one notification: its pushes, and the raw request and answer of one of them. */
export const createDetails = ({ feed, standingOf, onClose, onAccount }: Choices): Details => {
  const panel = byId("details", HTMLElement);
  const title = byId("details-title", HTMLHeadingElement);
  const about = byId("details-about", HTMLDivElement);
  const table = byId("details-pushes", HTMLTableSectionElement);
  const raw = byId("details-raw", HTMLDivElement);
  let shown: Notification | undefined;
  let chosen = 0;
  let listed = "";

  const showRaw = async (attempt: Attempt): Promise<void> => {
    try {
      const line = await feed.line(attempt.n);
      if (shown?.attempts[chosen] !== attempt) return;
      if (line?.kind !== "push") {
        raw.replaceChildren(element("p", { class: "note" }, "The receiver no longer has this push."));
        return;
      }
      const terms = facts(line, attempt).flatMap(([term, value]) => [
        element("dt", {}, term),
        element("dd", {}, value),
      ]);
      raw.replaceChildren(
        element("dl", {}, ...terms),
        section("Request", "request", requestText(line), bodyNote(line)),
        section("Answer", "answer", answerText(line, attempt), ""),
      );
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      raw.replaceChildren(element("p", { class: "note" }, `The push could not be read: ${message}`));
    }
  };

  const listPushes = (notification: Notification): void => {
    const standing = standingOf(notification);
    const signature = JSON.stringify([
      notification.key,
      chosen,
      standing.timings,
      standing.windows,
      notification.attempts,
    ]);
    if (signature === listed) return;
    listed = signature;
    const focused = table.contains(document.activeElement);
    const lines = notification.attempts.map((attempt, index) => {
      const button = element(
        "button",
        { type: "button", "aria-pressed": String(index === chosen) },
        `${index + 1}`,
      );
      button.setAttribute("aria-label", `Push ${index + 1}: show request and answer`);
      button.addEventListener("click", () => choose(index));
      return element("tr", {}, element("th", { scope: "row" }, button), ...cells(attempt, standing, index));
    });
    table.replaceChildren(...lines);
    if (focused) table.querySelectorAll("button")[chosen]?.focus();
  };

  const choose = (index: number): void => {
    chosen = index;
    const attempt = shown?.attempts[index];
    if (shown === undefined || attempt === undefined) return;
    listPushes(shown);
    void showRaw(attempt);
  };

  const describe = ({ accountId, summary }: Notification): void => {
    const only = element("button", { type: "button" }, "Only this account");
    only.addEventListener("click", () => onAccount(accountId ?? ""));
    const account = accountId === undefined ? [] : [element("code", {}, accountId), only];
    about.replaceChildren(...(summary === "" ? [] : [element("p", {}, summary)]), ...account);
  };

  const close = (): void => {
    if (shown === undefined) return;
    shown = undefined;
    panel.hidden = true;
    raw.replaceChildren();
    onClose();
  };

  byId("details-close", HTMLButtonElement).addEventListener("click", close);
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });

  return {
    open: (notification) => {
      shown = notification;
      listed = "";
      setText(title, notification.id ?? "No notification id");
      describe(notification);
      raw.replaceChildren();
      panel.hidden = false;
      choose(notification.attempts.length - 1);
      title.focus();
    },
    refresh: () => {
      if (shown !== undefined) listPushes(shown);
    },
    close,
  };
};
