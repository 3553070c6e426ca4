import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { attempts, delayMs, env, push } from "./settings.mjs";

/** https://docs.bullmq.io/guide/retrying-failing-jobs: `attempts` counts the first one, delays by a strategy of one's own. */
export const open = async () => {
  const queue = new Queue("pushes", { connection: new Redis(env.redis) });
  const jitter = { type: "exponential", delay: env.delaysMs[0], jitter: 0.5 };
  const backoff = env.fault === "built-in-backoff" ? jitter : { type: "custom" };
  return (job) => queue.add("push", job, { attempts, backoff });
};

/** A lock that is not renewed in time is a stalled job, which another worker takes. */
const shortLock = { lockDuration: 2_000, skipLockRenewal: true, stalledInterval: 1_000 };

export const work = async () => {
  const worker = new Worker("pushes", ({ data }) => push(data), {
    connection: new Redis(env.redis),
    concurrency: env.concurrency,
    settings: { backoffStrategy: delayMs },
    ...(env.fault === "short-lock" && shortLock),
  });
  worker.on("error", () => undefined);
};
