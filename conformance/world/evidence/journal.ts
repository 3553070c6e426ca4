import type { PushLine } from "../../contract/push.ts";
import type { ExchangeRecord } from "../../contract/record.ts";
import { shorten } from "../../contract/text.ts";
import { monotonicMs } from "../clock.ts";
import { type Answer, withoutQuery, type Request, type TransportError } from "../exchange.ts";
import { createCookies, type Cookies } from "./cookies.ts";
import { learn } from "./learn.ts";
import type { Secrets } from "../../contract/secrets.ts";

/** Why the outcome of a request of a case is unknown: no complete answer came, perhaps only a gateway's, or a lockout's. */
export interface Loss {
  readonly exchange: number;
  readonly reason: TransportError["reason"] | "gateway";
}

/**
 * The requests of one case whose outcome is unknown. One case cannot tell whether the service hung up or the network
 * lost them, nor whose 502 it was. Several can, because every request has a name that is the same each time the case is
 * played.
 */
export type Losses = ReturnType<typeof newLosses>;

export const newLosses = () => {
  const begun = new Map<string, number>();
  const lost = new Map<string, Loss>();
  return {
    /** Names a request that is about to start by method, path and its index among those: "POST /open-api/oauth/access-token 2". */
    begin: (request: Pick<Request, "method" | "path">): string => {
      const kind = withoutQuery(request);
      const nth = (begun.get(kind) ?? 0) + 1;
      begun.set(kind, nth);
      return `${kind} ${nth}`;
    },
    note: (name: string, loss: Loss): void => void lost.set(name, loss),
    /** Declares that nothing judged from now on depends on the outcome of this exchange. */
    ignoreLoss: (exchange: number): void => {
      for (const [name, loss] of lost) if (loss.exchange === exchange) lost.delete(name);
    },
    /** The losses that a judgement may depend on, by name. */
    open: (): ReadonlyMap<string, Loss> => lost,
  };
};

/** The destination of exchanges. `write` must not throw and must not block. */
export interface JournalSink {
  write(record: ExchangeRecord): void;
  /** Receives the lines of the receiver's journal, under the same conditions. */
  push?(line: PushLine): void;
}

/** Exchanges of one case of one rule, kept until the case is judged. */
export interface Scope {
  readonly rule: string;
  readonly exchanges: ExchangeRecord[];
  /** Whether each of its requests gets a connection of its own, unless it asks for a dedicated one. */
  readonly keepsNoConnection: boolean;
  /** Whether its requests find out if clients are locked out, and so do not wait until they are no longer. */
  readonly isControl: boolean;
  /** Requests of the case that got no complete answer. */
  readonly losses: Losses;
  readonly cookies: Cookies;
  /** Measurements of the case, recorded once its judgement stands. */
  readonly findings: (() => void)[];
}

export const newScope = (
  rule: string,
  {
    keepsNoConnection = false,
    isControl = false,
  }: Partial<Pick<Scope, "keepsNoConnection" | "isControl">> = {},
): Scope => ({
  rule,
  keepsNoConnection,
  isControl,
  exchanges: [],
  losses: newLosses(),
  cookies: createCookies(),
  findings: [],
});

const KEPT_CHARACTERS = 8_192;

const cut = (text: string): string =>
  text.length <= KEPT_CHARACTERS
    ? text
    : `${shorten(text, KEPT_CHARACTERS)} (${text.length} characters in all)`;

export type Journal = ReturnType<typeof createJournal>;

/** `toldMs` is the target's time as known without asking; undefined if it is not, or in real time. */
export const createJournal = (secrets: Secrets, sink?: JournalSink, toldMs?: () => number | undefined) => {
  let last = 0;
  const startedAtMs = monotonicMs();
  const nextNumber = (): number => (last += 1);
  const masks = masksBy(secrets);
  const add = (scope: Scope, raw: RawExchange): void => {
    const record = (sink === undefined ? maskedRecord : fullRecord)(scope.rule, raw, masks);
    scope.exchanges.push(record);
    sink?.write(record);
  };
  return {
    nextNumber,
    add,
    /** Begins an exchange now. It is recorded at its end, once the credentials in its answer are known. */
    begin: (scope: Scope) => {
      const n = nextNumber();
      const sentMs = monotonicMs();
      const clockMs = toldMs?.();
      const end = (
        request: ExchangeRecord["request"],
        outcome: { readonly answer: Omit<Answer, "exchange"> } | { readonly error: string },
      ): void => {
        if ("answer" in outcome) learn(secrets, outcome.answer);
        const durationMs = monotonicMs() - sentMs;
        const raw: Writable<RawExchange> = { n, startedMs: sentMs - startedAtMs, durationMs, request };
        if (clockMs !== undefined) raw.clockMs = clockMs;
        if ("answer" in outcome) raw.answer = outcome.answer;
        else raw.error = outcome.error;
        add(scope, raw);
      };
      return { n, end };
    },
  };
};

type RawExchange = Omit<ExchangeRecord, "rule">;
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

type Masks = ReturnType<typeof masksBy>;

const masksBy = ({ mask }: Secrets) => {
  const headersOf = (headers: Answer["headers"]): ExchangeRecord["request"]["headers"] =>
    headers.map(([name, value]) => [name, mask(cut(value))]);
  return {
    text: mask,
    request: ({ method, path, headers, body }: ExchangeRecord["request"]): ExchangeRecord["request"] => {
      const masked = { method, path: mask(cut(path)), headers: headersOf(headers) };
      return body === undefined ? masked : { ...masked, body: mask(cut(body)) };
    },
    answer: ({ status, headers, text }: NonNullable<ExchangeRecord["answer"]>) => ({
      status,
      headers: headersOf(headers),
      text: mask(cut(text)),
    }),
  };
};

/**
 * Masked at once, since the sink reads all of it. Copied from `maskedRecord`, or put together from copies of parts, it
 * would cost a gate more processor time.
 */
const fullRecord = (rule: string, raw: RawExchange, masks: Masks): ExchangeRecord => {
  const { n, startedMs, durationMs, clockMs, isPush, error, answer } = raw;
  const record: Writable<Partial<ExchangeRecord>> = { n, rule, startedMs, durationMs };
  if (clockMs !== undefined) record.clockMs = clockMs;
  if (isPush !== undefined) record.isPush = isPush;
  record.request = masks.request(raw.request);
  if (error !== undefined) record.error = masks.text(error);
  if (answer !== undefined) record.answer = masks.answer(answer);
  return record as ExchangeRecord;
};

/** Masks on first use, because without a sink most exchanges are never looked at. */
const maskedRecord = (rule: string, raw: RawExchange, masks: Masks): ExchangeRecord => {
  let request: ExchangeRecord["request"] | undefined;
  let answer: ExchangeRecord["answer"];
  const common = {
    n: raw.n,
    rule,
    startedMs: raw.startedMs,
    durationMs: raw.durationMs,
    ...(raw.clockMs === undefined ? {} : { clockMs: raw.clockMs }),
    ...(raw.isPush === undefined ? {} : { isPush: raw.isPush }),
    get request() {
      return (request ??= masks.request(raw.request));
    },
    ...(raw.error === undefined ? {} : { error: masks.text(raw.error) }),
  };
  if (raw.answer === undefined) return common;
  const { answer: rawAnswer } = raw;
  return Object.defineProperty(common, "answer", {
    enumerable: true,
    get: () => (answer ??= masks.answer(rawAnswer)),
  });
};
