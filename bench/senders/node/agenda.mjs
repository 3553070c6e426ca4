import { PostgresBackend } from "@agendajs/postgres-backend";
import { Agenda, backoffStrategies } from "agenda";
import { attempts, delayMs, env, push } from "./settings.mjs";

/** https://github.com/agenda/agenda: a job's `backoff` is a function of the attempt, and `null` ends the retries. */
const start = async () => {
  const agenda = new Agenda({
    backend: new PostgresBackend({ connectionString: env.postgres }),
    processEvery: env.pollMs,
    maxConcurrency: env.concurrency,
    removeOnComplete: true,
    // A lock that ends before the push does lets the job be taken again.
    ...(env.fault === "short-lock" && { defaultLockLifetime: 2_000 }),
  });
  agenda.on("error", () => undefined);
  await agenda.ready;
  return agenda;
};

export const open = async () => {
  const agenda = await start();
  return (job) => agenda.now("push", job);
};

export const work = async () => {
  const agenda = await start();
  const jitter = { delay: env.delaysMs[0], maxRetries: attempts - 1, jitter: 0.5 };
  const listed = ({ attempt }) => (attempt < attempts ? delayMs(attempt) : null);
  const backoff = env.fault === "built-in-backoff" ? backoffStrategies.exponential(jitter) : listed;
  agenda.define("push", ({ attrs }) => push(attrs.data), { backoff, concurrency: env.concurrency });
  await agenda.start();
};
