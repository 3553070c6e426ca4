/** The browser's clock: the one file of the page that touches time. */

export const nowMs = (): number => Date.now();

/** Waits, or ends at once when the signal says so. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

export const every = (milliseconds: number, act: () => void): void => {
  setInterval(act, milliseconds);
};
