/**
 * Lets cases play together, and single tasks alone: each once no case plays any more. Cases that come meanwhile wait.
 */
export type Solo = ReturnType<typeof createSolo>;

export const createSolo = () => {
  let playing = 0;
  let isAlone = false;
  const tasks: (() => void)[] = [];
  const cases: (() => void)[] = [];
  const begin = (): void => {
    if (isAlone || playing > 0) return;
    const task = tasks.shift();
    isAlone = task !== undefined;
    task?.();
    if (!isAlone) for (const one of cases.splice(0)) one();
  };
  return {
    together: async <T>(judge: () => Promise<T>): Promise<T> => {
      if (isAlone) await new Promise<void>((resolve) => cases.push(resolve));
      playing += 1;
      try {
        return await judge();
      } finally {
        playing -= 1;
        // What follows a case in its rule comes before what is played alone.
        setImmediate(begin);
      }
    },
    alone: async <T>(task: () => Promise<T>): Promise<T> => {
      await new Promise<void>((resolve) => {
        tasks.push(resolve);
        setImmediate(begin);
      });
      try {
        return await task();
      } finally {
        isAlone = false;
        setImmediate(begin);
      }
    },
  };
};
