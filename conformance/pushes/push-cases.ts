import type { PushAction } from "../contract/push.ts";
import type { Expectation, LaterEnding, PushCasePlan, Purpose } from "../judging/pushes/trace.ts";
import { timeoutEnds } from "../judging/pushes/timeouts.ts";
import { drawnStatuses, saysNothing, usualStatuses, withFailingBody, wrongBodies } from "./answers.ts";

export interface PushCaseOptions {
  readonly acknowledgedStatus: number;
  readonly maxPushes: number;
  /** Another address of the receiver, for redirects. */
  readonly elsewhere: (name: string) => string;
  /** Selects which of the less usual statuses are tried. */
  readonly seed: number;
  /**
   * Tries only a few kinds of failure through all pushes (`of lasting`), because with short delays many pushes due at
   * once would overload the machine, or also before an acknowledgement (`of all`).
   */
  readonly fewKinds?: "of lasting" | "of all" | undefined;
  /** Triggers events beside others at moments at which a clock moved by a hook stops anyway; in real time, away from them. */
  readonly isMoved?: boolean;
}

/** What is triggered together, and how long after the main moment, as a multiple of the first delay. */
export interface Batch {
  readonly after: number;
  readonly plans: readonly PushCasePlan[];
}

/** One row: what the receiver does with a notification's pushes, and what the document expects. */
interface Row {
  readonly name: string;
  /** The answers, push by push; the last one repeats. */
  readonly on: readonly PushAction[];
  readonly expect: Expectation;
  /** Notifications of the same family share an account. */
  readonly family?: string;
  /** Look it up in the list once this many of its pushes have come. */
  readonly readAtPush?: number;
  /** Whether its pushes fail at once in the plainest way, so that their moments show the schedule. */
  readonly isTimed?: true;
  /** What one of its later pushes meets. */
  readonly meets?: LaterEnding;
  /** What else is going on when it is triggered. */
  readonly during?: "refused" | "untrusted" | "beside-hang" | "many";
}

const pushes = (count: number): Expectation => ({ kind: "pushes", pushes: count });
const open = (more: Omit<Extract<Expectation, { kind: "open" }>, "kind"> = {}): Expectation => ({
  kind: "open",
  ...more,
});

const status = (code: number, more: object = {}): PushAction => ({ kind: "answer", status: code, ...more });
const hang = (code?: number): PushAction => ({
  kind: "hang",
  ...(code === undefined ? {} : { status: code }),
});
const cut = (when: "head" | "half-answer", code: number): PushAction => ({
  kind: "close",
  when,
  status: code,
});
const reset: PushAction = { kind: "reset" };
const closed = (when: "before-answer" | "status-line"): PushAction => ({ kind: "close", when });

/** The acknowledgement that this run's profile defines. */
export const acknowledgement = (code: number): PushAction => status(code);

const isSlow = (action: PushAction | undefined): boolean =>
  action?.kind === "hang" || (action?.kind === "answer" && (action.delayMs ?? 0) > 0);

/** Derives a row's purpose from its answers and expectation. */
const purposeOf = ({ on, expect, during, isTimed, meets }: Row): Purpose => {
  const [first, second] = on;
  if (meets !== undefined) return "ending";
  if (during !== undefined) return during;
  if (first?.kind === "hang" && first.status !== undefined) return "stall";
  if (isSlow(first)) return second === undefined ? "unanswered" : "hang";
  if (expect.kind === "open") {
    if (first?.kind !== "answer") return "cut";
    if (second === undefined) return "unconfirmed";
    return second.kind === "answer" && second.status === first.status ? "body" : "code";
  }
  if (expect.pushes === 1) return "prompt";
  if (second === undefined) return "never";
  return isTimed === true ? "late" : "kind";
};

const planOf = (row: Row): PushCasePlan => {
  const { name, on, expect, family, readAtPush, meets } = row;
  return {
    name,
    purpose: purposeOf(row),
    expect,
    actions: on,
    ...(family === undefined ? {} : { family }),
    ...(readAtPush === undefined ? {} : { readAtPush }),
    ...(meets === undefined ? {} : { meets }),
  };
};

/** Push cases with these purposes serve only these rules; all others serve many, or are what these are compared with. */
const servedBy: Partial<Record<Purpose, readonly string[]>> = {
  refused: ["push.unacknowledged-retries", "push.schedule", "push.cap"],
  untrusted: ["push.certificate-check", "push.unacknowledged-retries", "push.cap", "push.schedule"],
  hang: [
    "push.unacknowledged-retries",
    "push.late-acknowledgement",
    "push.schedule",
    "push.no-head-of-line-blocking",
    "push.sender-timeout",
  ],
  unanswered: ["push.unacknowledged-retries", "push.schedule", "push.cap"],
  stall: ["push.unacknowledged-retries", "push.acknowledgement-body"],
  "beside-hang": ["push.no-head-of-line-blocking"],
  many: ["push.delivered", "push.payload", "push.same-notification"],
  ending: ["push.unacknowledged-retries", "push.cap", "push.schedule"],
  kind: [
    "push.unacknowledged-retries",
    "push.late-acknowledgement",
    "push.independent-schedules",
    "push.delivered",
    "push.payload",
    "push.listed",
    "push.same-notification",
    "push.redirects",
    "push.follows-redirects",
  ],
  body: ["push.acknowledgement-body", "push.unacknowledged-retries"],
  unconfirmed: ["push.cap"],
  cut: ["push.acknowledgement-body", "push.unacknowledged-retries"],
  code: ["push.accepted-codes"],
};

/** Whether any of the rules to be judged needs push cases of this purpose. */
export const isNeeded = (purpose: Purpose, requirements: ReadonlySet<string> | undefined): boolean =>
  requirements === undefined || (servedBy[purpose]?.some((id) => requirements.has(id)) ?? true);

/** The batches, reduced to what these rules need. */
export const neededOf = (
  batches: readonly Batch[],
  requirements: ReadonlySet<string> | undefined,
): readonly Batch[] =>
  batches
    .map(({ after, plans }) => ({
      after,
      plans: plans.filter(({ purpose }) => isNeeded(purpose, requirements)),
    }))
    .filter(({ plans }) => plans.length > 0);

const fails = status(500);

/** Before the main moment: one to learn when first pushes come, then those that need the receiver closed or untrusted. */
export const warmUps = ({
  acknowledgedStatus,
  maxPushes,
}: Pick<PushCaseOptions, "acknowledgedStatus" | "maxPushes">) => {
  const ack = acknowledgement(acknowledgedStatus);
  return {
    first: planOf({ name: "the first", on: [ack], expect: pushes(1) }),
    // Never acknowledged, so that all pushes but the unseen one are counted.
    refused: planOf({
      name: "a refused connection",
      on: [fails],
      expect: pushes(maxPushes),
      during: "refused",
    }),
    untrusted: planOf({
      name: "an untrusted certificate",
      on: [ack],
      expect: pushes(1),
      during: "untrusted",
    }),
  };
};

/** Failures, each tried on its own, either once before an acknowledgement or for every push. */
const failures = ({
  elsewhere,
  seed,
  acknowledgedStatus,
}: PushCaseOptions): Readonly<Record<string, PushAction>> => {
  // Some with the body of an acknowledgement: it is the code that decides.
  const redirect = (code: number): PushAction =>
    status(code, {
      headers: { location: elsewhere(String(code)) },
      ...(code === 303 || code === 308 ? {} : { body: "empty" }),
    });
  const statuses = [...new Set([...usualStatuses, ...drawnStatuses(seed)])];
  return {
    ...Object.fromEntries(
      statuses.filter((code) => code !== acknowledgedStatus).map((code) => [`status ${code}`, status(code)]),
    ),
    "status 500 after an interim answer": status(500, { informational: [103] }),
    ...Object.fromEntries([301, 302, 303, 307, 308].map((code) => [`status ${code}`, redirect(code)])),
    "status 304": status(304, { body: "empty" }),
    "a reset connection": reset,
    "a connection closed before the answer": closed("before-answer"),
    "a connection closed before the answer's code": closed("status-line"),
    ...Object.fromEntries(
      [302, 404, 503].flatMap((code) => [
        [`status ${code}, cut behind its head`, cut("head", code)],
        [`status ${code}, cut in its body`, cut("half-answer", code)],
      ]),
    ),
  };
};

/** The kinds of failure that are tried if only a few are. */
const fewFailures = [
  "status 500",
  "status 404",
  "status 410",
  "status 302",
  "a reset connection",
  "a connection closed before the answer",
  "a connection closed before the answer's code",
];

/** Success codes tried instead of the expected one. */
const otherCodes = [200, 201, 202, 204, 206, 299];

/** The receiver asks for a delay, but the document's schedule applies. */
const asking = (code: number, seconds: string): PushAction =>
  status(code, { headers: { "retry-after": seconds } });

/** More than ten, up to which a sender may push for an account. */
const MANY = 11;

/** Rows triggered at the main moment, so that their pushes are due together. */
const mainRows = (options: PushCaseOptions): readonly Row[] => {
  const { acknowledgedStatus: expected, maxPushes } = options;
  const ack = acknowledgement(expected);
  const { fewKinds } = options;
  const kinds = Object.entries(failures(options));
  const few = kinds.filter(([kind]) => fewFailures.includes(kind));
  const forGood = pushes(maxPushes);
  const prompt = (name: string, more: Partial<Row> = {}): Row => ({
    name,
    on: [ack],
    expect: pushes(1),
    ...more,
  });
  return [
    { name: "fails beside others in its account", on: [fails], expect: forGood, family: "pair" },
    // Through all pushes, because a sender may treat only one push differently after some failure; and with bodies that
    // are no acknowledgements, since it is the code that failed.
    ...kinds
      .map((kind, n) => [...withFailingBody(kind, n, options.seed), kind] as const)
      .filter(([, , kind]) => fewKinds === undefined || few.includes(kind))
      .map(([kind, failure]): Row => ({ name: `always ${kind}`, on: [failure], expect: forGood })),
    {
      name: "always status 429 with Retry-After: 1",
      on: [asking(429, "1")],
      expect: forGood,
      family: "given up",
    },
    { name: "always status 503 with Retry-After: 600", on: [asking(503, "600")], expect: forGood },
    {
      name: "always status 500, and read from the list in between",
      on: [fails],
      expect: forGood,
      readAtPush: 2,
    },
    ...times(2).map((n) => prompt(`one of two of an account at the same moment ${n}`, { family: "twins" })),
    ...times(MANY).map((n) => prompt(`one of many of an account ${n}`, { family: "many", during: "many" })),
    prompt("read from the list once it is pushed", { readAtPush: 1 }),
    ...times(3).map((n) => prompt(`prompt ${n}`)),
    // The same JSON, but not the same bytes, and not the same head.
    prompt("acknowledged in JSON that is written otherwise", {
      on: [status(expected, { body: "acknowledge-otherwise" })],
    }),
    ...(fewKinds === "of all" ? few : kinds).map(([name, failure]): Row => ({
      name,
      on: [failure, ack],
      expect: pushes(2),
    })),
    ...times(maxPushes)
      .slice(1)
      .map((n): Row => ({
        name: `acknowledged at push ${n}`,
        on: [...times(n - 1).map(() => fails), ack],
        expect: pushes(n),
        isTimed: true,
      })),
    ...mixedRows(ack, forGood),
    ...openRows(expected),
  ];
};

/** Rows that fail in several ways, or beside others that do not. */
const mixedRows = (ack: PushAction, forGood: Expectation): readonly Row[] => [
  // A sender that keys its retries by account and moment keeps only one of these.
  ...times(2).map((n): Row => ({
    name: `one of two of an account that fail at the same moment ${n}`,
    on: [fails],
    expect: forGood,
    family: "failing twins",
  })),
  {
    name: "a failure beside acknowledged ones of its account",
    on: [fails, ack],
    expect: pushes(2),
    family: "twins",
  },
  {
    name: "acknowledged at push 3 after failures of two kinds",
    on: [reset, status(503), ack],
    expect: pushes(3),
    isTimed: true,
  },
  {
    name: "failures of five kinds",
    on: [status(503), reset, status(404), closed("before-answer"), fails],
    expect: forGood,
  },
];

/** Rows whose answers may or may not acknowledge; the document does not say. */
const openRows = (expected: number): readonly Row[] => {
  const ack = acknowledgement(expected);
  const other = expected === 201 ? 200 : 201;
  return [
    ...Object.entries(wrongBodies).map(([name, body]): Row => ({
      name,
      on: [status(expected, { body }), ack],
      expect: open(saysNothing.includes(name) ? { saysNothing: true } : {}),
    })),
    // Whatever the body means, the cap applies.
    ...(["not-received", "empty"] as const).map((body): Row => ({
      name: `the expected code each time, with ${body === "empty" ? "no body" : "received: false"}`,
      on: [status(expected, { body })],
      expect: open(),
    })),
    ...otherCodes
      .filter((code) => code !== expected)
      .map((code): Row => ({
        name: String(code),
        on: [status(code, code === 204 ? { body: "empty" } : {}), ack],
        expect: open(),
      })),
    ...(["head", "half-answer"] as const).flatMap((when): Row[] => {
      const where = when === "head" ? "cut behind its head" : "cut in its body";
      return [
        {
          name: `the expected code, ${where}`,
          on: [cut(when, expected), ack],
          expect: open({ unlessBodyDecides: true }),
        },
        { name: `status ${other}, ${where}`, on: [cut(when, other), ack], expect: open() },
      ];
    }),
  ];
};

/**
 * Rows without an answer, or without its end. They run when nothing else is due, because a sender with one worker sends
 * nothing else meanwhile.
 */
const slowRows = ({ acknowledgedStatus: expected, maxPushes }: PushCaseOptions): readonly Row[] => {
  const ack = acknowledgement(expected);
  return [
    ...times(4).map((n): Row => ({ name: `no answer ${n}`, on: [hang(), ack], expect: pushes(2) })),
    { name: "never an answer", on: [hang()], expect: pushes(maxPushes) },
    { name: "status 500 whose body never comes", on: [hang(500), ack], expect: pushes(2) },
  ];
};

/** Answers that never end, after each other kind of status. */
const unendingRows = ({ acknowledgedStatus: expected }: PushCaseOptions): readonly Row[] => {
  const ack = acknowledgement(expected);
  const other = expected === 201 ? 200 : 201;
  const unending = (code: number, expect: Expectation): Row => ({
    name: `status ${code} whose body never comes`,
    on: [hang(code), ack],
    expect,
  });
  return [
    unending(302, pushes(2)),
    unending(404, pushes(2)),
    unending(expected, open({ unlessBodyDecides: true })),
    unending(other, open()),
  ];
};

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** All notifications of the main part. `hangAfter` is when pushes may be left unanswered, in first delays. */
export const batchesOf = (options: PushCaseOptions, hangAfter: number): readonly Batch[] => {
  const ack = acknowledgement(options.acknowledgedStatus);
  const forGood = pushes(options.maxPushes);
  const { isMoved = false } = options;
  const batches: readonly (readonly [after: number, rows: readonly Row[]])[] = [
    [0, mainRows(options)],
    [
      // The clock also stops right before retries of the others.
      isMoved ? 29 / 30 : 17 / 30,
      [
        {
          name: "fails from later, beside acknowledged ones of its account",
          on: [fails],
          expect: forGood,
          family: "twins",
        },
        { name: "fails from later, in the same account", on: [fails], expect: forGood, family: "pair" },
      ],
    ],
    // Between retries, as those from a little later get their first: a sender that restarts all schedules at each event
    // restarts them twice, which no slow worker does.
    [
      isMoved ? 62 / 30 : 54 / 30,
      [
        { name: "acknowledged beside those that fail", on: [ack], expect: pushes(1), family: "pair" },
        { name: "acknowledged between retries of others", on: [ack], expect: pushes(1) },
      ],
    ],
    [
      hangAfter,
      [
        // Before those that hang, so that a sender with one worker pushes it first.
        {
          name: "after one of its account was given up",
          on: [ack],
          expect: pushes(1),
          family: "given up",
        },
        ...slowRows(options),
      ],
    ],
    [
      // The clock also stops where the first class of timeouts ends.
      hangAfter + (isMoved ? timeoutEnds[0] : 1) / 30,
      times(2).map((n): Row => ({
        name: `beside those that hang ${n}`,
        on: [ack],
        expect: pushes(1),
        during: "beside-hang",
      })),
    ],
    // After the effect of the hanging pushes on others has been seen.
    [hangAfter + 20 / 30, unendingRows(options)],
  ];
  return batches.map(([after, rows]) => ({ after, plans: rows.map(planOf) }));
};

const endings: Readonly<Record<string, { readonly kind: LaterEnding["kind"]; readonly on: PushAction }>> = {
  "is refused": { kind: "refused", on: fails },
  "meets an untrusted certificate": { kind: "untrusted", on: fails },
  "gets no answer": { kind: "hang", on: hang() },
  "gets status 500 whose body never comes": { kind: "hang", on: hang(500) },
};

/**
 * A plainly failing notification for each push after the first (also the first, for hangs) and each ending that takes
 * the whole receiver or real time. All of one kind meet their ending at the same moment.
 */
export const laterEndings = ({ maxPushes }: Pick<PushCaseOptions, "maxPushes">): readonly PushCasePlan[] =>
  Object.entries(endings).flatMap(([ending, { kind, on }]) =>
    times(maxPushes)
      .slice(kind === "hang" ? 0 : 1)
      .map((push) =>
        planOf({
          name: `push ${push} ${ending}`,
          on: [...times(push - 1).map(() => fails), on, fails],
          expect: pushes(maxPushes),
          meets: { push, kind },
        }),
      ),
  );

/** Adds an answer that is held back, which the receiver can do for any length of time in real time. */
export const heldAnswer = (batch: Batch, heldMs: number): Batch => {
  const ack = batch.plans.find(({ purpose }) => purpose === "hang")?.actions[1];
  if (ack === undefined) return batch;
  const held: Row = {
    name: "an answer that is held back",
    on: [status(500, { delayMs: heldMs }), ack],
    expect: pushes(2),
  };
  return { ...batch, plans: [...batch.plans, planOf(held)] };
};

/**
 * When the receiver closes an unanswered push by itself, in real milliseconds, so that no sender waits for ever on a run
 * that was killed. A run ends them once the target's clock has passed all timeouts, however long a busy machine needs.
 */
const HANG_MS = 600_000;
/** The same for the rest of an answer, for which a sender may wait for ever. */
const STALL_MS = 60_000;

/** Limits how long pushes are left unanswered. */
export const hungFor = (batch: Batch): Batch => ({
  ...batch,
  plans: batch.plans.map((plan) => ({
    ...plan,
    actions: plan.actions.map((action) =>
      action.kind === "hang" ? { ...action, forMs: plan.purpose === "stall" ? STALL_MS : HANG_MS } : action,
    ),
  })),
});

/** The actions with every hang replaced by a closed connection, for when this pass should wait for no more hangs. */
export const calmed = ({ actions, purpose }: PushCasePlan): readonly PushAction[] =>
  actions[0]?.kind === "hang" && purpose !== "ending"
    ? actions.map((action) => (action.kind === "hang" ? closed("before-answer") : action))
    : actions;
