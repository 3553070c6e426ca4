/** The browser's clock: the page's only file that touches time. */

export const nowMs = (): number => Date.now();

/** Waits, or ends immediately when the signal aborts. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });

export const every = (milliseconds: number, act: () => void): void => {
  setInterval(act, milliseconds);
};
