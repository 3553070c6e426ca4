import type { PushAction } from "../contract/push.ts";
import { timeoutEnds } from "../judging/pushes/readings.ts";
import { drawnStatuses, saysNothing, usualStatuses, withFailingBody, wrongBodies } from "./answers.ts";
import type { Expectation } from "../judging/pushes/trace.ts";
import {
  acknowledgement,
  closed,
  cut,
  fails,
  open,
  planOf,
  pushes,
  reset,
  status,
  times,
  type Batch,
  type PushCaseOptions,
  type Row,
} from "./push-case.ts";
import { slowRows, unendingRows } from "./unanswered-cases.ts";

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

/** Rows that are acknowledged at their first push. */
const promptRow =
  (ack: PushAction) =>
  (name: string, more: Partial<Row> = {}): Row => ({ name, on: [ack], expect: pushes(1), ...more });

/** Rows triggered at the main moment, so that their pushes are due together. */
const mainRows = (options: PushCaseOptions): readonly Row[] => {
  const { acknowledgedStatus: expected, maxPushes } = options;
  const ack = acknowledgement(expected);
  const { fewKinds } = options;
  const kinds = Object.entries(failures(options));
  const few = kinds.filter(([kind]) => fewFailures.includes(kind));
  const forGood = pushes(maxPushes);
  const prompt = promptRow(ack);
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
    ...times(MANY).map((n) => prompt(`one of many of an account ${n}`, { family: "many" })),
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
      })),
    ...mixedRows(ack, forGood, fewKinds === undefined),
    ...openRows(expected),
  ];
};

/** Rows that fail in several ways, or beside others that do not. */
const mixedRows = (ack: PushAction, forGood: Expectation, takesAll: boolean): readonly Row[] => [
  // A sender that keys its retries by account and moment keeps only one of these.
  ...times(2).map((n): Row => ({
    name: `one of two of an account that fail at the same moment ${n}`,
    on: [fails],
    expect: forGood,
    family: "failing twins",
  })),
  {
    name: "acknowledged at push 3 after failures of two kinds",
    on: [reset, status(503), ack],
    expect: pushes(3),
  },
  {
    name: "failures of five kinds",
    on: [status(503), reset, status(404), closed("before-answer"), fails],
    expect: forGood,
  },
  ...(takesAll ? sequences : []).map((on): Row => ({
    name: `${on.map(shortName).join(", ")} in turn`,
    on,
    expect: forGood,
  })),
];

/** Each has other kinds right behind one another: a sender may take one for final only if another came before. */
const sequences: readonly (readonly PushAction[])[] = [
  [status(503), status(404), fails, status(302, { body: "empty" }), status(429)],
  [status(410), status(307, { body: "empty" }), status(502), reset, status(400)],
  [closed("before-answer"), status(409), reset, status(301, { body: "empty" }), reset],
];

const shortName = (action: PushAction): string =>
  action.kind === "answer" ? String(action.status) : `a ${action.kind}`;

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

/** Rows triggered beside the retries of others: when, in first delays after the main moment. */
const laterRows = ({
  acknowledgedStatus,
  maxPushes,
  isMoved = false,
}: PushCaseOptions): readonly (readonly [after: number, rows: readonly Row[]])[] => {
  const forGood = pushes(maxPushes);
  const prompt = promptRow(acknowledgement(acknowledgedStatus));
  return [
    [
      // The clock also stops right before retries of the others.
      isMoved ? 29 / 30 : 17 / 30,
      [
        {
          name: "fails, triggered later, beside acknowledged ones of its account",
          on: [fails],
          expect: forGood,
          family: "twins",
        },
        { name: "fails, triggered later, in the same account", on: [fails], expect: forGood, family: "pair" },
      ],
    ],
    // Between retries, as those from a little later get their first: a sender that restarts all schedules at each event
    // restarts them twice, which no slow worker does.
    [
      isMoved ? 62 / 30 : 54 / 30,
      [
        prompt("acknowledged beside those that fail", { family: "pair" }),
        prompt("acknowledged between retries of others"),
      ],
    ],
  ];
};

/** All notifications but the warm-up's, in the order in which they are triggered. */
export const batchesOf = (options: PushCaseOptions): readonly Batch[] => {
  const prompt = promptRow(acknowledgement(options.acknowledgedStatus));
  const { isMoved = false } = options;
  const batch = (from: Batch["from"], after: number, rows: readonly Row[]): Batch => ({
    from,
    after,
    plans: rows.map(planOf),
  });
  const givenUp = batch("given up", 0, [
    prompt("after one of its account was given up", { family: "given up" }),
  ]);
  const silent = [
    batch("silence", 0, slowRows(options)),
    // The clock also stops where the first class of timeouts ends.
    batch(
      "silence",
      (isMoved ? timeoutEnds[0] : 1) / 30,
      times(2).map((n): Row => prompt(`beside those that hang ${n}`, { during: "silence" })),
    ),
    // After the effect of the hanging pushes on others has been seen.
    batch("silence", 20 / 30, unendingRows(options)),
  ];
  return [
    batch("main", 0, mainRows(options)),
    ...laterRows(options).map(([after, rows]) => batch("main", after, rows)),
    // A sender with one worker pushes it before those that hang; in real time, these come before any is given up.
    ...(isMoved ? [givenUp, ...silent] : [...silent, givenUp]),
  ];
};
