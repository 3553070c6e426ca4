import { PgBoss } from "pg-boss";
import { attempts, delayMs, env, push } from "./settings.mjs";

/**
 * https://timgit.github.io/pg-boss: retries have one delay, or one that doubles with jitter; a list of delays is a new
 * job with `startAfter` for each.
 */
const isBuiltIn = env.fault === "built-in-backoff";

const start = async () => {
  const boss = new PgBoss(env.postgres);
  boss.on("error", () => undefined);
  await boss.start();
  const retries = isBuiltIn
    ? { retryLimit: attempts - 1, retryBackoff: true, retryDelay: Math.round(env.delaysMs[0] / 2_000) }
    : { retryLimit: 0 };
  await boss.createQueue("pushes", retries);
  return boss;
};

export const open = async () => {
  const boss = await start();
  return (job) => boss.send("pushes", { ...job, failed: 0 });
};

export const work = async () => {
  const boss = await start();
  const options = { localConcurrency: env.concurrency, pollingIntervalSeconds: env.pollMs / 1_000 };
  await boss.work("pushes", options, async ([{ data }]) => {
    try {
      await push(data);
    } catch (error) {
      if (isBuiltIn) throw error;
      const failed = data.failed + 1;
      if (failed >= attempts) return;
      await boss.send("pushes", { ...data, failed }, { startAfter: new Date(Date.now() + delayMs(failed)) });
    }
  });
};
