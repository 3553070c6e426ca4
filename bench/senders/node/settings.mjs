/** What the bench tells every queue, and the push itself: a job is `{ url, body }`, and no acknowledgement throws. */
export const env = {
  delaysMs: process.env.DELAYS_MS.split(",").map(Number),
  timeoutMs: Number(process.env.TIMEOUT_MS),
  concurrency: Number(process.env.CONCURRENCY),
  /** How often a queue that polls looks. */
  pollMs: Number(process.env.POLL_MS),
  fault: process.env.FAULT,
  redis: { host: "127.0.0.1", port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null },
  postgres: process.env.POSTGRES_URL,
};

/** One push too many is the usual slip: "attempts" and "retries" differ by the first push. */
export const attempts = env.delaysMs.length + (env.fault === "attempt-too-many" ? 2 : 1);

/** The delay after so many failed pushes, counted from 1. */
export const delayMs = (failed) => env.delaysMs[Math.min(failed, env.delaysMs.length) - 1];

export const push = async ({ url, body }) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(env.timeoutMs),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`not acknowledged: ${response.status}`);
};
