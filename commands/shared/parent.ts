import type { CommandClock } from "./clock.ts";

const LOOKS_MS = 1_000;

/**
 * Ends a process whose parent has gone. npm starts scripts in a shell that passes no signal on: to end
 * the shell means what it runs. Returns how to stop watching.
 */
export const endWithParent = (
  { every }: Pick<CommandClock, "every">,
  { parent, end }: { readonly parent: () => number; readonly end: () => void },
): (() => void) => {
  const first = parent();
  let isOver = false;
  return every(LOOKS_MS, () => {
    // A second end would be an impatient one.
    if (isOver || parent() === first) return;
    isOver = true;
    end();
  });
};
