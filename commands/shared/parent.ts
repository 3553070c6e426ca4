import type { CommandClock } from "./clock.ts";

const LOOKS_MS = 1_000;

/**
 * Interrupts a process whose parent is gone. npm starts scripts in a shell that forwards no signals, so ending the
 * shell should end the script. A second interruption would end the process at once, in the middle of what it removes;
 * so there is none here, whatever interrupted it first. Returns a function that stops watching.
 */
export const endWithParent = (
  { every }: Pick<CommandClock, "every">,
  {
    parent,
    interruption,
    interrupt,
  }: { readonly parent: () => number; readonly interruption: AbortSignal; readonly interrupt: () => void },
): (() => void) => {
  const first = parent();
  return every(LOOKS_MS, () => {
    if (!interruption.aborted && parent() !== first) interrupt();
  });
};
