import Type, { Optional, type Static } from "typebox";
import { closed, integer, list, number } from "./schema.ts";

export const PushAction = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("answer"),
      status: Optional(integer("Default 200.", { minimum: 200, maximum: 599 })),
      headers: Optional(Type.Record(Type.String(), Type.String())),
      body: Optional(
        Type.Union(
          [
            Type.Literal("acknowledge"),
            Type.Literal("acknowledge-otherwise", {
              description:
                "The acknowledgement with received first, white space, a charset, another reason phrase, and in two chunks.",
            }),
            Type.Literal("wrong-id"),
            Type.Literal("not-received"),
            Type.Literal("empty"),
            Type.Object({ text: Type.String() }, closed),
            Type.Object(
              {
                json: Type.Unknown({
                  description: '"{{id}}" in a text is replaced by the id of the notification.',
                }),
              },
              closed,
            ),
            Type.Object({ bytes: Type.Integer({ minimum: 1, maximum: 1_073_741_824 }) }, closed),
          ],
          { description: "Default: the acknowledgement { id, received: true }." },
        ),
      ),
      delayMs: Optional(number("Delay before the answer, on the receiver's clock.", { minimum: 0 })),
      informational: Optional(
        list("1xx answers to send first.", Type.Integer({ minimum: 100, maximum: 199 })),
      ),
    },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal("hang"),
      status: Optional(
        integer("Starts an answer with this status whose body never comes.", {
          minimum: 200,
          maximum: 599,
        }),
      ),
    },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal("close"),
      when: Type.Union([
        Type.Literal("before-answer"),
        Type.Literal("status-line", { description: "Before the answer's status code." }),
        Type.Literal("head", { description: "After the answer's head, before its body." }),
        Type.Literal("half-answer", { description: "In the middle of the answer's body." }),
      ]),
      status: Optional(
        integer("The status code of an answer that is cut off; default 200.", {
          minimum: 200,
          maximum: 599,
        }),
      ),
    },
    closed,
  ),
  Type.Object({ kind: Type.Literal("reset") }, closed),
]);
export type PushAction = Static<typeof PushAction>;

const PushMatch = Type.Object(
  {
    notificationId: Optional(Type.String()),
    accountId: Optional(Type.String()),
    /** Matches only the n-th notification, from 1, that the other conditions match, in the order of first pushes. */
    nth: Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);

/** One rule of a plan: the first action is for a notification's first push, and so on; the last one repeats. */
const PushRule = Type.Object({ match: PushMatch, attempts: Type.Array(PushAction, { minItems: 1 }) }, closed);
export type PushRule = Static<typeof PushRule>;

/** How a receiver answers: by the first rule that matches, otherwise by `otherwise` (default: an acknowledgement). */
export const PushPlan = Type.Object(
  {
    rules: Type.Array(PushRule),
    otherwise: Optional(PushAction),
    /** For pushes whose body names no notification; if absent, they are treated like any other. */
    noNotification: Optional(PushAction),
  },
  closed,
);
export type PushPlan = Static<typeof PushPlan>;

/** The documented acknowledgement: the expected code and { id, received: true }. */
export const acknowledge: PushAction = { kind: "answer" };

/** One line of pushes.jsonl. Times are milliseconds on the receiver's monotonic clock since its epoch. */
export type PushLine = {
  readonly n: number;
  /** New for each process: times of different epochs cannot be compared. */
  readonly epoch: string;
} & (
  | {
      readonly kind: "started";
      /** Wall clock time at which the monotonic clock read `atMs`. */
      readonly at: string;
      readonly atMs: number;
    }
  | ({ readonly kind: "push" } & Push)
  | { readonly kind: "listener"; readonly atMs: number; readonly state: "open" | "closed" }
  | {
      readonly kind: "fault";
      readonly atMs: number;
      readonly message: string;
      /** The connections, if they ended before a push could be read. */
      readonly lost?: LostConnections;
    }
  /** How the push of line `push` ended. A push is in the journal before it is answered, so its end is a separate line. */
  | ({ readonly kind: "answered"; readonly push: number } & Answered)
  /** From here on attempts and notifications count from zero, and /pushes returns nothing older. */
  | { readonly kind: "cleared"; readonly atMs: number }
);

/**
 * How far a connection got that ended before a push could be read: it sent nothing; it sent something other than TLS;
 * its handshake failed; it sent nothing after the handshake; it began a request; or the receiver turned it away.
 */
export type LostStage = "silent" | "not-tls" | "handshake" | "no-request" | "request" | "turned-away";

/** Connections that ended at the same stage, from one address, within a second. */
export interface LostConnections {
  readonly stage: LostStage;
  /** Absent if no longer known. */
  readonly address?: string;
  readonly count: number;
  /** When they were opened; at most the first hundred. */
  readonly openedMs: readonly number[];
}

/**
 * The end of a push: its answer handed over completely, its connection closed or reset by the receiver, or abandoned by
 * the sender, which ended its side first. TCP does not tell a sender that gives up from one that half-closes and reads on.
 */
export interface Answered {
  readonly answeredMs: number;
  readonly uncertaintyMs: number;
  readonly outcome: "sent" | "closed" | "reset" | "abandoned";
}

/** Answer of GET /pushes?after=N&wait=MS&limit=COUNT. */
export interface PushLines {
  /** That of the receiver now: lines may be of earlier ones. */
  readonly epoch: string;
  /** The lines with a number above `after`, in order; at most COUNT if `limit` was given. */
  readonly lines: readonly PushLine[];
  /** Number of the newest available line. */
  readonly last: number;
}

/** How much of a pushed body a receiver keeps: as much as common queues let a message be long (256 KiB). */
export const KEPT_CHARACTERS = 262_144;

export interface Push {
  /** Arrival of the first byte of the request, and of the last. */
  readonly firstByteMs: number;
  readonly completeMs: number;
  /**
   * When and how it ended. Present in lines of the control interface if the answer was given at once. Otherwise (held
   * back, dribbled, hanging), and always in the journal file, a line `answered` reports it once known.
   */
  readonly answeredMs?: number;
  readonly outcome?: Answered["outcome"];
  /** Uncertainty of the timestamps: the event loop's delay around them. */
  readonly uncertaintyMs: number;
  readonly method: string;
  readonly path: string;
  /** Raw header lines in order of arrival, with names as sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
  readonly bodySha256: string;
  /** The body as text, of at most KEPT_CHARACTERS; base64 if it is not UTF-8. */
  readonly body: string;
  readonly bodyEncoding: "utf8" | "base64";
  /** The notification's id and account, if the body names them. */
  readonly notificationId?: string;
  readonly accountId?: string;
  /** Number of this push among those of its notification, from 1; 0 if it is not a push. */
  readonly attempt: number;
  readonly connection: {
    readonly id: number;
    readonly remotePort: number;
    /** Number of this request on its connection, from 1. */
    readonly request: number;
    readonly tls?: { readonly protocol: string; readonly cipher: string; readonly servername?: string };
  };
  /** What was done with it, and the status if there was one. */
  readonly action: PushAction["kind"] | "not-a-push" | "too-large";
  readonly status?: number;
  /**
   * The answer for people to read: status line, headers and body as on the wire, truncated. Absent if nothing is sent
   * or the receiver does not keep it.
   */
  readonly answer?: string;
}

/**
 * A position in the receiver's own order of events. Calls that change the receiver return the position of the change,
 * so that numbers tell what came before it and after it.
 */
export interface JournalMark {
  readonly epoch: string;
  /** The last line number assigned; whatever completes later has a higher one. */
  readonly last: number;
  /** The id of the last accepted connection; later ones have higher ids. */
  readonly lastConnection: number;
  /** On the receiver's monotonic clock. */
  readonly nowMs: number;
}

/** The header of a call to the control interface that names the run which calls. */
export const runHeader = "touchstone-run";

/** A run that has not called its receiver for so long counts as ended, in milliseconds: it may have been killed. */
export const LONGEST_SILENCE_MS = 30_000;

/** The receiver's state as its control interface reports it: GET /state. */
export interface ReceiverState extends JournalMark {
  readonly callbackUrl: string;
  /** PEM of the authority that signed the receiver's certificate; absent over plain HTTP. */
  readonly ca?: string;
  readonly listening: boolean;
}
