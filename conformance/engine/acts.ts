/**
 * The acts of a run. Where a hook moves the clock they follow one another: what rests on time has the target to itself.
 * In real time their waits lie side by side.
 */
const acts = ["reading", "others", "waiting", "alone", "pushing"] as const;
export type Act = (typeof acts)[number];

/** Does a task in its act, and returns what it gave. All tasks are given before the acts begin. */
export type InAct = <T>(act: Act, task: () => Promise<T>) => Promise<T>;

type Order = readonly (readonly Act[])[];

/**
 * What creates notifications comes after what only reads. In shared accounts an event of another rule would be mistaken
 * for one of the push run's, so that comes before.
 */
const onMovedClock: Readonly<Record<"own" | "shared", Order>> = {
  own: [["reading", "others"], ["waiting"], ["alone"], ["pushing"]],
  shared: [["reading", "others"], ["pushing"], ["waiting"], ["alone"]],
};

export const createActs = () => {
  const tasks = new Map<Act, (() => Promise<unknown>)[]>(acts.map((act) => [act, []]));
  const play = async (some: readonly Act[]): Promise<void> => {
    await Promise.allSettled(some.flatMap((act) => tasks.get(act) ?? []).map((task) => task()));
  };
  const inAct: InAct = (act, task) =>
    new Promise((resolve, reject) => {
      tasks.get(act)?.push(() => task().then(resolve, reject));
    });
  return {
    inAct,
    onMovedClock: async (accounts: keyof typeof onMovedClock): Promise<void> => {
      for (const some of onMovedClock[accounts]) await play(some);
    },
    inRealTime: async (accounts: keyof typeof onMovedClock): Promise<void> => {
      const apart = play(["others", "waiting"]);
      await play(["reading"]);
      const pushing = play(["pushing"]);
      if (accounts === "shared") await pushing;
      await Promise.all([apart, pushing, play(["alone"])]);
    },
  };
};
