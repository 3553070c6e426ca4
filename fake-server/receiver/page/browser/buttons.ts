import { pause } from "./clock.ts";
import { byId, element, setText } from "./dom.ts";
import type { Feed } from "./feed.ts";

/** Some browsers read what is downloaded only after the click has been dealt with. */
const downloadStartsWithinMs = 60_000;

const download = async (feed: Feed): Promise<void> => {
  const address = URL.createObjectURL(await feed.journal());
  element("a", { href: address, download: "pushes.jsonl" }).click();
  await pause(downloadStartsWithinMs, new AbortController().signal);
  URL.revokeObjectURL(address);
};

const startCopy = (callbackUrl: () => string): void => {
  const copy = byId("copy-callback", HTMLButtonElement);
  // Browsers give the clipboard to pages from this machine or over HTTPS only.
  copy.hidden = !isSecureContext;
  copy.addEventListener("click", () => {
    navigator.clipboard.writeText(callbackUrl()).then(
      () => setText(copy, "Copied"),
      () => setText(copy, "Not allowed"),
    );
  });
  copy.addEventListener("blur", () => setText(copy, "Copy"));
};

const startDownload = (feed: Feed): void => {
  const button = byId("download", HTMLButtonElement);
  button.addEventListener("click", () => {
    setText(button, "Download");
    download(feed).catch(() => setText(button, "Download failed"));
  });
};

const startPause = (feed: Feed): void => {
  const button = byId("pause", HTMLButtonElement);
  button.addEventListener("click", () => {
    const paused = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(paused));
    setText(button, paused ? "Go on" : "Pause");
    feed.setPaused(paused);
  });
};

const startToken = (feed: Feed): void => {
  byId("token-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    setText(byId("token-words", HTMLLabelElement), "This token was refused; the receiver asks for its own");
    feed.setToken(byId("token", HTMLInputElement).value);
  });
};

export const startButtons = (feed: Feed, callbackUrl: () => string): void => {
  startCopy(callbackUrl);
  startDownload(feed);
  startPause(feed);
  startToken(feed);
};
