import type { PushAction } from "../contract/push.ts";
import { drawnStatuses, usualStatuses, wrongBodies } from "./answers.ts";
import type { SpecimenPlan } from "./data.ts";

/** The expected code arrives, and only half of the body behind it: a failure for whom the body counts, and none otherwise. */
export const cutBody = "a connection closed in the middle of the answer's body";

/** The ways in which a push can fail by what the receiver does, each tried by itself. */
export const failureKinds = (
  elsewhere: (name: string) => string,
  statuses: readonly number[],
): Readonly<Record<string, PushAction>> => {
  const status = (code: number): PushAction => ({ kind: "answer", status: code });
  const redirect = (code: number): PushAction => ({
    kind: "answer",
    status: code,
    headers: { location: elsewhere(String(code)) },
    body: "empty",
  });
  return {
    ...Object.fromEntries(statuses.map((code) => [`status ${code}`, status(code)])),
    "status 500 after an interim answer": { kind: "answer", status: 500, informational: [103] },
    "status 301": redirect(301),
    "status 302": redirect(302),
    "status 303": redirect(303),
    "status 307": redirect(307),
    "status 308": redirect(308),
    "status 304": { kind: "answer", status: 304, body: "empty" },
    "a reset connection": { kind: "reset" },
    "a connection closed before the answer": { kind: "close", when: "before-answer" },
    "a connection closed before the answer's code": { kind: "close", when: "status-line" },
    [cutBody]: { kind: "close", when: "half-answer" },
  };
};

/** Failures that last through all pushes of a notification. */
const lasting = [
  "status 500",
  "status 404",
  "status 410",
  "status 302",
  "a reset connection",
  "a connection closed before the answer",
  "a connection closed before the answer's code",
];

/** The document knows one schedule, whatever a receiver asks for: by these no push comes sooner or later. */
const asksForAnother = (acknowledgedStatus: number): Readonly<Record<string, PushAction>> => {
  const asking = (status: number, seconds: string): PushAction => ({
    kind: "answer",
    status: status === acknowledgedStatus ? 500 : status,
    headers: { "retry-after": seconds },
  });
  return {
    "always status 429 with Retry-After: 1": asking(429, "1"),
    "always status 503 with Retry-After: 600": asking(503, "600"),
  };
};

export const otherCodes = [200, 201, 202, 204, 206, 299];

export interface SpecimenOptions {
  readonly acknowledgedStatus: number;
  readonly maxPushes: number;
  /** Another address of the receiver, for redirects. */
  readonly elsewhere: (name: string) => string;
  /** Which of the less usual statuses are tried. */
  readonly seed: number;
}

/** Specimens of these purposes are for these rules alone; all others serve many, or are what these are compared with. */
const servedBy: Partial<Record<SpecimenPlan["purpose"], readonly string[]>> = {
  refused: ["push.unacknowledged-retries", "push.schedule", "push.cap"],
  untrusted: ["push.certificate-check"],
  hang: [
    "push.unacknowledged-retries",
    "push.late-acknowledgement",
    "push.schedule",
    "push.no-head-of-line-blocking",
    "push.sender-timeout",
  ],
  unanswered: ["push.unacknowledged-retries", "push.schedule", "push.cap"],
  stall: ["push.unacknowledged-retries"],
  "beside-hang": ["push.no-head-of-line-blocking"],
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
    "push.acknowledgement-body",
  ],
  body: ["push.acknowledgement-body", "push.unacknowledged-retries"],
  code: ["push.accepted-codes"],
};

/** Whether one of the rules that are to be judged looks at specimens of this purpose. */
export const isNeeded = (
  purpose: SpecimenPlan["purpose"],
  requirements: ReadonlySet<string> | undefined,
): boolean => requirements === undefined || (servedBy[purpose]?.some((id) => requirements.has(id)) ?? true);

/** The waves with what these rules need. */
export const neededOf = (
  waves: readonly Wave[],
  requirements: ReadonlySet<string> | undefined,
): readonly Wave[] =>
  waves
    .map(({ after, plans }) => ({
      after,
      plans: plans.filter(({ purpose }) => isNeeded(purpose, requirements)),
    }))
    .filter(({ plans }) => plans.length > 0);

/** What is triggered in one go, and how long after the campaign's main moment, as a share of the first delay. */
export interface Wave {
  readonly after: number;
  readonly plans: readonly SpecimenPlan[];
}

/** The acknowledgement as this run's profile says. */
export const acknowledgement = (status: number): PushAction => ({ kind: "answer", status });

/** Before the main moment: one to learn when first pushes come, then what needs the receiver's door shut or strange. */
export const scouts = ({ acknowledgedStatus }: Pick<SpecimenOptions, "acknowledgedStatus">) => {
  const one = (name: string, purpose: SpecimenPlan["purpose"], action: PushAction): SpecimenPlan => ({
    name,
    purpose,
    actions: [action],
  });
  const acknowledged = acknowledgement(acknowledgedStatus);
  return {
    scout: one("the first", "prompt", acknowledged),
    // Never acknowledged, so that all pushes but the one that nobody saw are counted.
    refused: one("a refused connection", "refused", failed),
    untrusted: one("an untrusted certificate", "untrusted", acknowledged),
  };
};

const failed: PushAction = { kind: "answer", status: 500 };

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/**
 * All notifications of the main journey. Nearly all are triggered at the same moment, so that the
 * instants to watch coincide; some later, to see schedules keep apart; those that get no answer at
 * all where nothing else is due, so that a sender with one worker does not spoil the others.
 */
export const wavesOf = (options: SpecimenOptions, hangAfter: number): readonly Wave[] => {
  const acknowledged = acknowledgement(options.acknowledgedStatus);
  const statuses = [...new Set([...usualStatuses, ...drawnStatuses(options.seed)])];
  const kinds = failureKinds(
    options.elsewhere,
    statuses.filter((status) => status !== options.acknowledgedStatus),
  );
  const fails = failed;
  const never = (name: string, action: PushAction, family?: string): SpecimenPlan => ({
    name,
    purpose: "never",
    actions: [action],
    ...(family === undefined ? {} : { family }),
  });
  const main: SpecimenPlan[] = [
    never("fails beside others in its account", fails, "pair"),
    ...lasting.map((kind) => never(`always ${kind}`, kinds[kind] ?? fails)),
    ...Object.entries(asksForAnother(options.acknowledgedStatus)).map(([name, action]) =>
      never(name, action),
    ),
    { ...never("always status 500, and read from the list in between", fails), readAtPush: 2 },
    ...times(2).map((n): SpecimenPlan => ({
      name: `one of two of an account at the same moment ${n}`,
      purpose: "prompt",
      actions: [acknowledged],
      family: "twins",
    })),
    {
      name: "read from the list once it is pushed",
      purpose: "prompt",
      actions: [acknowledged],
      readAtPush: 1,
    },
    ...times(4).map((n): SpecimenPlan => ({
      name: `prompt ${n}`,
      purpose: "prompt",
      actions: [acknowledged],
    })),
    ...Object.entries(kinds).map(([name, action]): SpecimenPlan => ({
      name,
      purpose: "kind",
      actions: [action, acknowledged],
    })),
    ...times(options.maxPushes)
      .slice(1)
      .map((n): SpecimenPlan => ({
        name: `acknowledged at push ${n}`,
        purpose: "late",
        actions: [...times(n - 1).map(() => fails), acknowledged],
      })),
    {
      name: "acknowledged at push 3 after failures of two kinds",
      purpose: "late",
      actions: [{ kind: "reset" }, { kind: "answer", status: 503 }, acknowledged],
    },
    ...Object.entries(wrongBodies).map(([name, body]): SpecimenPlan => ({
      name,
      purpose: "body",
      actions: [
        { kind: "answer", status: options.acknowledgedStatus, ...(body === undefined ? {} : { body }) },
        acknowledged,
      ],
    })),
    ...otherCodes
      .filter((status) => status !== options.acknowledgedStatus)
      .map((status): SpecimenPlan => ({
        name: String(status),
        purpose: "code",
        actions: [
          { kind: "answer", status, ...(status === 204 ? { body: "empty" as const } : {}) },
          acknowledged,
        ],
      })),
  ];
  return [
    { after: 0, plans: main },
    {
      after: 7 / 30,
      plans: [
        {
          name: "acknowledged beside one that fails",
          purpose: "prompt",
          actions: [acknowledged],
          family: "pair",
        },
        never("fails from a little later", fails),
      ],
    },
    { after: 17 / 30, plans: [never("fails from later, in the same account", fails, "pair")] },
    // Between retries: where each event starts the schedules of all others anew, twice is no longer what a slow worker shows too.
    {
      after: 54 / 30,
      plans: [{ name: "acknowledged between retries of others", purpose: "prompt", actions: [acknowledged] }],
    },
    {
      after: hangAfter,
      plans: [
        ...times(4).map((n): SpecimenPlan => ({
          name: `no answer ${n}`,
          purpose: "hang",
          actions: [{ kind: "hang" }, acknowledged],
        })),
        { name: "never an answer", purpose: "unanswered", actions: [{ kind: "hang" }] },
        {
          name: "status 500 whose body never comes",
          purpose: "stall",
          actions: [{ kind: "hang", status: 500 }, acknowledged],
        },
      ],
    },
    {
      after: hangAfter + 1 / 30,
      plans: times(2).map((n): SpecimenPlan => ({
        name: `beside those that hang ${n}`,
        purpose: "beside-hang",
        actions: [acknowledged],
      })),
    },
  ];
};

/** In real time the receiver can also hold an answer back for as long as it likes: one more where others hang. */
export const heldAnswer = (wave: Wave, heldMs: number): Wave => {
  const [first] = wave.plans;
  if (first?.purpose !== "hang") return wave;
  const [, acknowledged = first.actions[0]] = first.actions;
  const held: PushAction = { kind: "answer", status: 500, delayMs: heldMs };
  return {
    ...wave,
    plans: [
      ...wave.plans,
      {
        name: "an answer that is held back",
        purpose: "hang",
        actions: acknowledged === undefined ? [held] : [held, acknowledged],
      },
    ],
  };
};

/** A sender that has begun to read an answer is left to itself for longer: its own limit is what is looked for. */
const STALL = 4;

/** No answer for so long in real time, and then the end of the connection, so that no sender waits for ever. */
export const hungFor = (wave: Wave, forMs: number): Wave => ({
  ...wave,
  plans: wave.plans.map((plan) => ({
    ...plan,
    actions: plan.actions.map((action) =>
      action.kind === "hang"
        ? { ...action, forMs: plan.purpose === "stall" ? STALL * forMs : forMs }
        : action,
    ),
  })),
});

/** What is done instead once nobody is to be left waiting any more. */
export const calmed = (action: PushAction): PushAction =>
  action.kind === "hang" ? { kind: "close", when: "before-answer" } : action;
