import type { CommandClock } from "./clock.ts";

const LOOKS_MS = 1_000;

/**
 * Ends a process whose parent is gone. npm starts scripts in a shell that forwards no signals, so ending the shell
 * should end the script. Returns a function that stops watching.
 */
export const endWithParent = (
  { every }: Pick<CommandClock, "every">,
  { parent, end }: { readonly parent: () => number; readonly end: () => void },
): (() => void) => {
  const first = parent();
  let isOver = false;
  return every(LOOKS_MS, () => {
    // A second call would count as an impatient interruption.
    if (isOver || parent() === first) return;
    isOver = true;
    end();
  });
};
