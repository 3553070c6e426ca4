import { every, withDeadline } from "./clock.ts";
import { getGlobalDispatcher, type Dispatcher } from "undici";
import {
  LONGEST_SILENCE_MS,
  runHeader,
  type JournalMark,
  type PushLine,
  type PushLines,
  type PushPlan,
  type ReceiverState,
} from "../contract/push.ts";
import { shorten } from "../contract/text.ts";
import { messageOf, receive } from "./http/receive.ts";
import { fieldOf, parseJson } from "../contract/json.ts";

export interface ReceiverAccess {
  readonly controlUrl: string;
  /** Undefined if the receiver requires none, as on the same machine. */
  readonly token?: string | undefined;
  /** Tells a run, which uses the receiver alone, from others; without it nothing is refused. */
  readonly run?: string;
}

export type CertificateKind = "own" | "untrusted" | "wrong-host" | "expired";

/** The receiver of pushes, controlled through its interface. Every call throws ReceiverError if it fails. */
export type Receiver = ReturnType<typeof openReceiver>;

/** The receiver failed: a matter of the harness or its configuration, never a breach. */
export class ReceiverError extends Error {
  override readonly name = "ReceiverError";
  /** What to do about it, if that is known. */
  readonly remedy: string | undefined;
  constructor(message: string, remedy?: string) {
    super(`the receiver: ${message}`);
    this.remedy = remedy;
  }
}

/** Generous, because no verdict depends on it and a busy machine may delay the receiver's answer for long. */
const TIMEOUT_MS = 60_000;
/** For calls whose failure changes nothing: the receiver counts a silent run as ended anyway. */
const QUIET_TIMEOUT_MS = 2_000;
const jsonContent = ["content-type", "application/json"] as const;

interface Call {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly interrupted?: AbortSignal;
}

const callerOf = (access: ReceiverAccess, dispatcher: Dispatcher) => {
  const base = access.controlUrl.replace(/\/+$/, "");
  const { origin, pathname } = new URL(base);
  const { token, run } = access;
  const headers = [
    ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
    ...(run === undefined ? [] : [[runHeader, run] as const]),
  ];
  return async ({ method, path, body, timeoutMs, interrupted }: Call): Promise<unknown> => {
    try {
      const { status, text } = await withDeadline(timeoutMs, interrupted, (signal) =>
        receive(
          dispatcher,
          {
            origin,
            method,
            path: `${pathname.replace(/\/$/, "")}${path}`,
            headers: [...headers, ...(body === undefined ? [] : [jsonContent])],
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          },
          { timeoutMs, mostBytes: Infinity, signal },
        ),
      );
      if (status >= 200 && status <= 299) return parseJson(text);
      throw refusalOf(access, status, path, text);
    } catch (error) {
      if (error instanceof ReceiverError) throw error;
      throw new ReceiverError(`${base}${path} gave no answer: ${messageOf(error)}`);
    }
  };
};

/** Creates a client of a receiver's control interface; sends nothing yet. */
export const openReceiver = (
  access: ReceiverAccess,
  interrupted: AbortSignal,
  dispatcher: Dispatcher = getGlobalDispatcher(),
  repeat = every,
) => {
  const send = callerOf(access, dispatcher);
  const use = access.run === undefined ? undefined : useOf(send, repeat);
  const call = (method: Call["method"], path: string, body?: unknown, waitMs = 0): Promise<unknown> => {
    use?.begin();
    return send({ method, path, body, timeoutMs: TIMEOUT_MS + Math.ceil(waitMs), interrupted });
  };

  return {
    state: async (): Promise<ReceiverState> => (await call("GET", "/state")) as ReceiverState,
    /**
     * Lines after a mark, at once or as soon as one arrives within `waitMs`. Throws if the receiver was restarted since
     * then: it has forgotten its plan, and without its journal it numbers its lines from one again.
     */
    pushes: async (
      { epoch, last }: Pick<JournalMark, "epoch" | "last">,
      waitMs = 0,
    ): Promise<readonly PushLine[]> => {
      const path = `/pushes?after=${last}&wait=${Math.ceil(waitMs)}`;
      const answer = (await call("GET", path, undefined, waitMs)) as PushLines;
      if (answer.epoch === undefined) throw olderReceiver();
      if (answer.epoch !== epoch) throw new ReceiverError("it was restarted while its pushes were watched");
      return answer.lines;
    },
    /** Applies to pushes that complete after the returned mark. */
    plan: async (plan: PushPlan): Promise<JournalMark> => markIn(await call("PUT", "/plan", plan)),
    /** Closes the connections of pushes that are being left without any answer. */
    endHangs: async (): Promise<void> => void (await call("DELETE", "/hangs")),
    /** Closes or opens the listening socket. Pushes recorded after the mark of a closed one came on earlier connections. */
    listener: async (state: "open" | "closed"): Promise<JournalMark> =>
      markIn(await call("POST", "/listener", { state })),
    /** Applies to connections accepted after the returned mark. */
    certificate: async (kind: CertificateKind): Promise<JournalMark> =>
      markIn(await call("PUT", "/certificate", { kind })),
    /** Forgets attempts, so that counting starts over. */
    clear: async (): Promise<void> => void (await call("POST", "/clear", {})),
    /** Lets other runs use it; also after an interruption. Never fails: a run that falls silent counts as ended. */
    leave: async (): Promise<void> => use?.end(),
  };
};

/**
 * A run's use of a receiver, from its first call on. It calls while it has nothing to say, too, since it would be taken
 * for dead otherwise: a live run in real time sleeps for minutes.
 */
const useOf = (send: ReturnType<typeof callerOf>, repeat: typeof every) => {
  const quietly = (method: Call["method"], path: string): Promise<unknown> =>
    send({ method, path, timeoutMs: QUIET_TIMEOUT_MS }).catch(() => undefined);
  let calling: { cancel(): void } | undefined;
  let lastCall: Promise<unknown> | undefined;
  return {
    begin: (): void => {
      calling ??= repeat(LONGEST_SILENCE_MS / 3, () => void (lastCall = quietly("GET", "/state")));
    },
    end: async (): Promise<void> => {
      if (calling === undefined) return;
      calling.cancel();
      calling = undefined;
      // One that arrived afterwards would begin another use.
      await lastCall;
      await quietly("DELETE", "/use");
    },
  };
};

const markIn = (answer: unknown): JournalMark => {
  const { epoch, last, lastConnection, nowMs } = (answer ?? {}) as Partial<JournalMark>;
  if (epoch === undefined || last === undefined || lastConnection === undefined || nowMs === undefined)
    throw olderReceiver();
  return { epoch, last, lastConnection, nowMs };
};

const olderReceiver = (): ReceiverError =>
  new ReceiverError(
    "its answer names no position in the journal, so it is an older version: start `touchstone receive` of this version",
  );

const refusalOf = (
  { controlUrl, token }: ReceiverAccess,
  status: number,
  path: string,
  text: string,
): ReceiverError => {
  const refusal = fieldOf(parseJson(text), "error");
  if (status === 409 && typeof refusal === "string")
    return new ReceiverError(
      refusal,
      "wait until the other run has ended, or attach another receiver: one serves one run at a time",
    );
  if (status !== 401 && status !== 403)
    return new ReceiverError(`${path} was answered with status ${status}: ${shorten(text, 200)}`);
  return new ReceiverError(
    token === undefined
      ? `its control interface at ${controlUrl} requires a token (status ${status}), but the profile has no receiver.attach.token`
      : `its control interface at ${controlUrl} refuses the token of receiver.attach.token (status ${status})`,
  );
};
