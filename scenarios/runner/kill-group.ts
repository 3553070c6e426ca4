/** Signals a whole process group; does nothing if it is gone. */
export const killGroup = (pid: number | undefined, by: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, by);
  } catch {
    // It has already ended.
  }
};
