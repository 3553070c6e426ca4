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
            Type.Literal("wrong-id"),
            Type.Literal("not-received"),
            Type.Literal("empty"),
            Type.Object({ text: Type.String() }, closed),
            Type.Object(
              {
                json: Type.Unknown({
                  description: 'A text "{{id}}" in it becomes the id of the notification.',
                }),
              },
              closed,
            ),
            Type.Object({ bytes: Type.Integer({ minimum: 1, maximum: 1_073_741_824 }) }, closed),
          ],
          { description: "Default: the acknowledgement { id, received: true }." },
        ),
      ),
      delayMs: Optional(number("Held back on the receiver's clock.", { minimum: 0 })),
      dribbleMs: Optional(number("Pause between the bytes of the body.", { minimum: 1 })),
      gzip: Optional(Type.Boolean()),
      informational: Optional(
        list("1xx answers that are sent first.", Type.Integer({ minimum: 100, maximum: 199 })),
      ),
    },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal("hang"),
      forMs: Optional(Type.Number({ minimum: 0 })),
      status: Optional(
        integer("An answer with this status is begun, and its body never comes.", {
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
        Type.Literal("status-line", { description: "Before the answer's code has been said." }),
        Type.Literal("head", { description: "Behind the answer's head, before any of its body." }),
        Type.Literal("half-answer", { description: "In the middle of the answer's body." }),
      ]),
      status: Optional(
        integer("The code of an answer that is cut at its head or in its body; default 200.", {
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

export const PushMatch = Type.Object(
  {
    notificationId: Optional(Type.String()),
    accountId: Optional(Type.String()),
    path: Optional(Type.String()),
    method: Optional(Type.String()),
    /** A JSON pointer into the body and the value that has to stand there. */
    body: Optional(Type.Object({ pointer: Type.String(), equals: Type.Unknown() }, closed)),
    /** The n-th notification, from 1, among those that the other conditions match, in the order of their first push. */
    nth: Optional(Type.Integer({ minimum: 1 })),
  },
  closed,
);

/** One rule of a plan: the first action is for a notification's first push, and so on; the last one repeats. */
export const PushRule = Type.Object(
  {
    match: PushMatch,
    attempts: Type.Array(PushAction, { minItems: 1 }),
    times: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: "How many pushes the rule answers before it ends; default: all.",
      }),
    ),
  },
  closed,
);
export type PushRule = Static<typeof PushRule>;

/** How a receiver answers: by the first rule that matches, otherwise by `otherwise` (default: an acknowledgement). */
export const PushPlan = Type.Object(
  {
    rules: Type.Array(PushRule),
    otherwise: Optional(PushAction),
    /** For a push whose body names no notification; where it is left out, such a push is treated as any other. */
    noNotification: Optional(PushAction),
  },
  closed,
);
export type PushPlan = Static<typeof PushPlan>;

/** Acknowledged as the document says: the expected code and { id, received: true }. */
export const acknowledge: PushAction = { kind: "answer" };

/** One line of pushes.jsonl. Times are milliseconds on the receiver's monotonic clock since its epoch. */
export type PushLine =
  | {
      readonly kind: "started";
      readonly n: number;
      /** Wall clock at which the monotonic clock stood at `atMs`. */
      readonly at: string;
      readonly atMs: number;
      /** A new epoch for each process: times of two epochs cannot be compared. */
      readonly epoch: string;
    }
  | ({ readonly kind: "push"; readonly n: number; readonly epoch: string } & Push)
  | {
      readonly kind: "listener";
      readonly n: number;
      readonly epoch: string;
      readonly atMs: number;
      readonly state: "open" | "closed";
    }
  | {
      readonly kind: "fault";
      readonly n: number;
      readonly epoch: string;
      readonly atMs: number;
      readonly message: string;
      /** Where connections were over before a push could be read: which ones. */
      readonly lost?: LostConnections;
    }
  /** How the push of line `push` ended. A push is in the journal before it is answered, so the journal tells this apart. */
  | ({
      readonly kind: "answered";
      readonly n: number;
      readonly epoch: string;
      readonly push: number;
    } & Answered)
  /** From here on attempts and notifications are counted from zero, and /pushes returns nothing older. */
  | { readonly kind: "cleared"; readonly n: number; readonly epoch: string; readonly atMs: number };

/**
 * How far a connection came that was over before a push could be read: it sent nothing at all; what it sent is no
 * TLS; its handshake broke; the handshake is all there was; a request was begun; or the receiver turned it away.
 */
export type LostStage = "silent" | "not-tls" | "handshake" | "no-request" | "request" | "turned-away";

/** Connections that came equally far, from one address, within a second. */
export interface LostConnections {
  readonly stage: LostStage;
  /** Absent if it is no longer known. */
  readonly address?: string;
  readonly count: number;
  /** When they were opened; of very many the first hundred. */
  readonly openedMs: readonly number[];
}

/** The end of a push: its answer handed over whole, its connection closed or reset by the receiver, or left by the sender. */
export interface Answered {
  readonly answeredMs: number;
  readonly uncertaintyMs: number;
  readonly outcome: "sent" | "closed" | "reset" | "abandoned";
}

/** Answer of GET /pushes?after=N&wait=MS&limit=COUNT. */
export interface PushLines {
  /** The lines with a greater number than `after`, in order; the first COUNT of them where `limit` was given. */
  readonly lines: readonly PushLine[];
  /** Number of the newest line that can be had. */
  readonly last: number;
}

export interface Push {
  /** First byte of the request and its last byte. */
  readonly firstByteMs: number;
  readonly completeMs: number;
  /**
   * When and how it ended. In the lines of the control interface where the answer was given at once; otherwise
   * (held back, dribbled, hanging), and always in the journal's file, a line `answered` tells it as soon as it is known.
   */
  readonly answeredMs?: number;
  readonly outcome?: Answered["outcome"];
  /** How far the stamps may be off: the event loop's delay around them. */
  readonly uncertaintyMs: number;
  readonly method: string;
  readonly path: string;
  /** Raw header lines in the order of arrival, names as they were written. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
  readonly bodySha256: string;
  /** The body as text, cut to a bounded length; base64 where it is not UTF-8. */
  readonly body: string;
  readonly bodyEncoding: "utf8" | "base64";
  /** The notification's id and account where the body names them. */
  readonly notificationId?: string;
  readonly accountId?: string;
  /** Number of this push among those of its notification, from 1; 0 for what is no push. */
  readonly attempt: number;
  readonly connection: {
    readonly id: number;
    readonly remotePort: number;
    /** Number of this request on its connection, from 1. */
    readonly request: number;
    readonly tls?: { readonly protocol: string; readonly cipher: string; readonly servername?: string };
  };
  /** What was done with it, and the status where there was one. */
  readonly action: PushAction["kind"] | "not-a-push" | "too-large";
  readonly status?: number;
  /**
   * What is answered, for a reader to look at: status line, header lines and body as on the wire, cut to a
   * bounded length. Absent where nothing is sent; a receiver that does not keep it leaves it out.
   */
  readonly answer?: string;
}

/**
 * A moment in the receiver's own order of events. Calls that change the receiver answer with the moment of the
 * change, so that what came before it is told from what came after by numbers, not by when somebody looked.
 */
export interface JournalMark {
  readonly epoch: string;
  /** The last line number given out; whatever was complete later has a greater one. */
  readonly last: number;
  /** The id of the last connection accepted; one accepted later has a greater id. */
  readonly lastConnection: number;
  /** On the receiver's monotonic clock. */
  readonly nowMs: number;
}

/** What the receiver's control interface tells of itself: GET /state. */
export interface ReceiverState extends JournalMark {
  readonly callbackUrl: string;
  /** PEM of the authority that signed the receiver's certificate; absent over plain HTTP. */
  readonly ca?: string;
  readonly listening: boolean;
}
