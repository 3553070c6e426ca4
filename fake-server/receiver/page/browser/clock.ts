/** The browser's clock: the page's only file that touches time. */
export const nowMs = (): number => Date.now();

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const every = (ms: number, act: () => void): void => void setInterval(act, ms);
