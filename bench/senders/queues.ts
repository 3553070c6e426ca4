import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Program } from "./processes.ts";

/** What is planted into a sender; `none` and `one-worker` keep the document. */
export type Fault =
  | "none"
  | "one-worker"
  | "attempt-too-many"
  | "built-in-backoff"
  | "short-lock"
  | "body-without-timeout"
  | "worker-killed";

export interface Setting {
  readonly name: "document" | "shortened" | "libfaketime" | "libfaketime-2";
  readonly delaysMs: readonly number[];
  /** Its clock is moved by a file. With the other choice of FAKETIME_DONT_FAKE_MONOTONIC than its runtime needs, if so. */
  readonly faketime?: "as-needed" | "otherwise";
}

const DOCUMENT_MS = [30_000, 60_000, 120_000, 240_000];

export const settings: readonly Setting[] = [
  { name: "shortened", delaysMs: [6_000, 12_000, 24_000, 48_000] },
  { name: "libfaketime", delaysMs: DOCUMENT_MS, faketime: "as-needed" },
  { name: "libfaketime-2", delaysMs: DOCUMENT_MS, faketime: "otherwise" },
  { name: "document", delaysMs: DOCUMENT_MS },
];

export type Programs = Pick<Program, "command" | "cwd">;

type Language = "Node" | "Python" | "Go" | "Java";

export interface Queue {
  readonly name: string;
  readonly language: Language;
  readonly store: "redis" | "PostgreSQL";
  /** How often it looks for what is due, as it does by default; 0 if it is woken. */
  readonly pollMs: number;
  readonly workers: number;
  /** Whether its runtime needs FAKETIME_DONT_FAKE_MONOTONIC for its timers; undefined if libfaketime cannot move its clock. */
  readonly monotonicIsReal: boolean | undefined;
  /** A worker that is killed loses what it was pushing, if it was: whether the fault shows is chance. */
  readonly losesInFlight?: true;
  /** The rules of which a fault breaks at least one; none of them if its design does not let the fault show. */
  readonly faults: Partial<Record<Fault, readonly RequirementId[]>>;
}

const usual = {
  none: [],
  "one-worker": [],
  "attempt-too-many": ["push.cap"],
  "built-in-backoff": ["push.schedule"],
  "worker-killed": [],
} as const;

/** A push that is sent twice is early, and one more than the cap allows if all of them fail. */
const sentTwice = { "short-lock": ["push.schedule", "push.cap"] } as const;

const node = { language: "Node", monotonicIsReal: true } as const;
const python = { language: "Python", store: "redis", monotonicIsReal: false } as const;

export const queues: readonly Queue[] = [
  { ...node, name: "bullmq", store: "redis", pollMs: 0, workers: 100, faults: { ...usual, ...sentTwice } },
  {
    ...node,
    name: "pg-boss",
    store: "PostgreSQL",
    pollMs: 2_000,
    workers: 20,
    // One worker takes a job every 2 s: it cannot keep pace with the events of a run.
    faults: { ...usual, "one-worker": ["push.schedule", "push.delivered"] },
  },
  {
    ...python,
    name: "celery",
    pollMs: 0,
    workers: 50,
    // Delayed tasks are in the memory of the worker; they come again an hour later.
    faults: { ...usual, ...sentTwice, "worker-killed": ["push.unacknowledged-retries"] },
  },
  { ...node, name: "graphile-worker", store: "PostgreSQL", pollMs: 2_000, workers: 50, faults: usual },
  {
    ...node,
    name: "agenda",
    store: "PostgreSQL",
    pollMs: 5_000,
    workers: 100,
    faults: { ...usual, ...sentTwice },
  },
  {
    ...python,
    name: "rq",
    pollMs: 1_000,
    workers: 6,
    // The lock of the scheduler that was killed lasts 61 s; the new one had not asked for it again 280 s later.
    faults: { ...usual, "worker-killed": ["push.unacknowledged-retries", "push.schedule"] },
  },
  {
    ...python,
    name: "huey",
    // Its scheduler sleeps by the monotonic clock.
    monotonicIsReal: true,
    pollMs: 1_000,
    workers: 50,
    // A task is taken off the queue before it runs.
    losesInFlight: true,
    faults: { ...usual, "worker-killed": ["push.unacknowledged-retries"] },
  },
  {
    ...python,
    name: "dramatiq",
    pollMs: 0,
    workers: 50,
    // Delayed messages are in the memory of the worker; another takes them a minute after its last heartbeat.
    faults: { ...usual, "worker-killed": ["push.schedule", "push.unacknowledged-retries"] },
  },
  {
    language: "Go",
    name: "asynq",
    store: "redis",
    pollMs: 5_000,
    workers: 100,
    monotonicIsReal: undefined,
    faults: usual,
  },
  {
    language: "Java",
    name: "db-scheduler",
    store: "PostgreSQL",
    pollMs: 10_000,
    workers: 50,
    monotonicIsReal: true,
    // Executions of a dead worker are taken up after several missed heartbeats, of five minutes each.
    losesInFlight: true,
    faults: {
      ...usual,
      "worker-killed": ["push.unacknowledged-retries"],
      "body-without-timeout": ["push.unacknowledged-retries"],
    },
  },
];
