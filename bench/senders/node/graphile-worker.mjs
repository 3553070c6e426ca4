import { makeWorkerUtils, run } from "graphile-worker";
import { attempts, delayMs, env, push } from "./settings.mjs";

/**
 * https://worker.graphile.org/docs/exponential-backoff: the backoff is built in, exp(attempt) seconds, and cannot be
 * changed; a list of delays is a new job with `runAt` for each.
 */
const isBuiltIn = env.fault === "built-in-backoff";
const maxAttempts = isBuiltIn ? attempts : 1;

export const open = async () => {
  const utils = await makeWorkerUtils({ connectionString: env.postgres });
  await utils.migrate();
  return (job) => utils.addJob("push", { ...job, failed: 0 }, { maxAttempts });
};

const deliver = async (job, { addJob }) => {
  try {
    await push(job);
  } catch (error) {
    if (isBuiltIn) throw error;
    const failed = job.failed + 1;
    if (failed >= attempts) return;
    await addJob("push", { ...job, failed }, { maxAttempts, runAt: new Date(Date.now() + delayMs(failed)) });
  }
};

export const work = () =>
  run({
    connectionString: env.postgres,
    concurrency: env.concurrency,
    pollInterval: env.pollMs,
    taskList: { push: deliver },
  });
