import type { Answer, Fields, Refusal, RefusalKind } from "./answer.ts";
import type { JsonObject } from "./body.ts";
import type { FakeClient } from "./clients.ts";
import type { Context, Operation, Service, AccessRecord, CodeRecord, RefreshRecord } from "./context.ts";
import type { Notification, Selection } from "./notifications.ts";
import type { Query } from "./query.ts";
import type { Callback, Delivery, PushOutcome, PushRequest } from "./pushes.ts";
import type { RandomSource } from "./random.ts";

type MaybePromise<T> = T | Promise<T>;
type Clients = ReadonlyMap<string, FakeClient>;

/** How requests are read and answers are written, whatever they are about. */
export interface HttpDecisions {
  /** Whether the request is let in at all: undefined, or why not. */
  readonly admission: (context: Context) => Refusal | undefined;
  /** Real milliseconds that the request is held up before it is looked at. */
  readonly latencyMs: (context: Context) => number;
  /** The decoded query, or undefined when it cannot be decoded. */
  readonly readQuery: (raw: string, context: Context) => Query | undefined;
  /** What is wrong with the set of parameters as such: repeated or unknown names. */
  readonly parametersRefusal: (query: Query, context: Context) => RefusalKind | undefined;
  readonly contentTypeRefusal: (contentType: string | undefined, context: Context) => RefusalKind | undefined;
  /** The JSON object that a body holds, or undefined when it holds none. */
  readonly readBody: (raw: Buffer, context: Context) => JsonObject | undefined;
  readonly timestamp: (context: Context) => unknown;
  readonly renderSuccess: (fields: Fields, context: Context) => Answer;
  readonly renderRefusal: (refusal: Refusal, context: Context) => Answer;
  /** The last word on every answer: headers, framing, and when it leaves. */
  readonly finish: (answer: Answer, context: Context) => MaybePromise<Answer>;
}

/** Obtaining a code (sections 2.1 and 4.1). */
export interface AuthorizeDecisions {
  readonly findClientToAuthorize: (clientId: string | undefined, clients: Clients) => FakeClient | undefined;
  readonly acceptsRedirectUri: (redirectUri: string | undefined, client: FakeClient, query: Query) => boolean;
  readonly acceptsState: (state: string | undefined, query: Query, context: Context) => boolean;
  readonly mintCode: (client: FakeClient, state: string, context: Context) => string;
  /** Whether, and when, a new code is there to be exchanged. */
  readonly keepCode: (record: CodeRecord, context: Context) => void;
  readonly authorizeFields: (record: CodeRecord, timestamp: unknown, context: Context) => Fields;
  readonly renderAuthorized: (fields: Fields, redirectUri: string, context: Context) => Answer;
}

/** The life of a code (section 3.1). */
export interface CodeDecisions {
  readonly findCode: (presented: unknown, context: Context) => CodeRecord | undefined;
  readonly codeBelongsTo: (record: CodeRecord, client: FakeClient) => boolean;
  readonly codeIsAlive: (record: CodeRecord, context: Context) => boolean;
  /** Uses the code up: true for the one caller that may have tokens for it. */
  readonly takeCode: (record: CodeRecord, context: Context) => MaybePromise<boolean>;
  /** What a refused exchange does to the code that it named, if it named one. */
  readonly afterRefusedExchange: (
    record: CodeRecord | undefined,
    kind: RefusalKind,
    context: Context,
  ) => void;
  /** What a successful exchange does besides giving tokens. */
  readonly afterExchange: (record: CodeRecord, tokens: RefreshRecord, context: Context) => void;
}

/** Who the caller is, and what tokens it gets (sections 2.2, 4.2, 4.3, 5). */
export interface TokenDecisions {
  readonly authenticateClient: (
    clientId: unknown,
    clientSecret: unknown,
    clients: Clients,
  ) => FakeClient | undefined;
  readonly findClientToRefresh: (clientId: unknown, clients: Clients) => FakeClient | undefined;
  readonly mintAccessToken: (client: FakeClient, lifetimeMs: number, context: Context) => string;
  readonly mintRefreshToken: (client: FakeClient, context: Context) => string;
  readonly accessTokenLifetimeMs: (client: FakeClient, context: Context) => number;
  /** The `expiresIn` field for a token that lives for `lifetimeMs`. */
  readonly expiresIn: (lifetimeMs: number, context: Context) => unknown;
  readonly exchangeFields: (
    tokens: RefreshRecord,
    timestamp: unknown,
    expiresIn: unknown,
    context: Context,
  ) => Fields;
  readonly refreshFields: (
    tokens: RefreshRecord,
    timestamp: unknown,
    expiresIn: unknown,
    context: Context,
  ) => Fields;
  /** Whether, and when, a new access token is there to be found. */
  readonly keepAccessToken: (record: AccessRecord, context: Context) => void;
  readonly keepRefreshToken: (record: RefreshRecord, context: Context) => void;
  readonly findRefreshToken: (presented: unknown, context: Context) => RefreshRecord | undefined;
  readonly refreshTokenBelongsTo: (record: RefreshRecord, client: FakeClient) => boolean;
  readonly refreshTokenIsAlive: (record: RefreshRecord, context: Context) => boolean;
  /** Takes the refresh token for one use: false where another use stands in the way. */
  readonly takeRefreshToken: (record: RefreshRecord, context: Context) => MaybePromise<boolean>;
  readonly afterRefusedRefresh: (
    record: RefreshRecord | undefined,
    kind: RefusalKind,
    context: Context,
  ) => void;
  /** What a refresh does to the tokens that were there before; `previous` is the access token issued last. */
  readonly afterRefresh: (record: RefreshRecord, previous: AccessRecord, context: Context) => void;
  readonly readAccessToken: (context: Context) => string | undefined;
  readonly findAccessToken: (presented: string, context: Context) => AccessRecord | undefined;
  readonly accessTokenIsAlive: (record: AccessRecord, context: Context) => boolean;
}

/** The filters of a request for notifications; undefined means not asked for. */
export interface Filters {
  readonly id: string | undefined;
  readonly accountId: string | undefined;
}

export interface Paging {
  readonly limit: number;
  readonly page: number;
}

/** Listing notifications (sections 2.3 and 4.4). */
export interface ListDecisions {
  readonly readFilters: (query: Query, context: Context) => Filters;
  /** The page size for what stands in the query, or undefined when that is refused. */
  readonly limitFor: (asked: string | undefined, context: Context) => number | undefined;
  /** The page number for what stands in the query, or undefined when that is refused. */
  readonly pageFor: (asked: string | undefined, context: Context) => number | undefined;
  /** The condition and its parameters; the order is a separate decision. */
  readonly matching: (filters: Filters, viewer: AccessRecord, context: Context) => Omit<Selection, "orderBy">;
  readonly order: (context: Context) => string;
  readonly offsetOf: (paging: Paging, matched: number, context: Context) => number;
  readonly countMatches: (selection: Selection, context: Context) => number;
  readonly readItems: (
    selection: Selection,
    offset: number,
    paging: Paging,
    context: Context,
  ) => MaybePromise<readonly Notification[]>;
  /** Whether a page that holds nothing is answered all the same. */
  readonly servesPage: (paging: Paging, matched: number, context: Context) => boolean;
  readonly total: (
    matched: number,
    items: readonly Notification[],
    paging: Paging,
    context: Context,
  ) => unknown;
  /** One element of `data`. */
  readonly item: (notification: Notification, context: Context) => unknown;
  readonly listFields: (items: readonly unknown[], total: unknown, context: Context) => Fields;
}

/** What the service makes of a business event; there is no request of a client behind it. */
export interface EventDecisions {
  readonly mintNotificationId: (random: RandomSource, nowMs: number) => string;
  readonly createTime: (nowMs: number, service: Service) => string;
  /** Which client a notification belongs to; undefined when the event names none. */
  readonly ownerOf: (clientId: string | undefined, service: Service) => string;
  /** How long a new notification stays out of the list, in milliseconds of the service's clock. */
  readonly visibilityDelayMs: (service: Service) => number;
  /** Puts a notification where the list finds it. */
  readonly keepNotification: (notification: Notification, owner: string, service: Service) => void;
}

/** Pushing notifications to the callback (sections 4.5, 6 and 8). Times are milliseconds of the service's clock. */
export interface PushDecisions {
  readonly pushesEvent: (notification: Notification, service: Service) => boolean;
  /** How long after its anchor push number `attempt` (from 1) is due. */
  readonly pushDelayMs: (attempt: number, delivery: Delivery, service: Service) => number;
  /** The moment that the delay of the next push counts from. */
  readonly pushAnchorMs: (delivery: Delivery, service: Service) => number;
  /** What is added to a delay so that pushes spread. */
  readonly pushJitterMs: (attempt: number, service: Service) => number;
  /** When the sender notices that push number `attempt` is due at `dueMs`. */
  readonly pushNoticedMs: (dueMs: number, attempt: number, service: Service) => number;
  /** How many pushes a notification has at most, the first one included. */
  readonly maxPushes: (delivery: Delivery, service: Service) => number;
  /** What a new event does to the deliveries that are pending; each change has to be followed by `replan`. */
  readonly onNewDelivery: (delivery: Delivery, pending: PendingDeliveries, service: Service) => void;
  /** How many workers send a push that is due: one, unless they get in each other's way. */
  readonly pushCopies: (delivery: Delivery, attempt: number) => number;
  readonly pushBody: (delivery: Delivery, attempt: number, service: Service) => string;
  readonly pushHeaders: (delivery: Delivery, attempt: number, service: Service) => Record<string, string>;
  /** The last word on the request of a push. */
  readonly pushRequest: (request: PushRequest, delivery: Delivery, attempt: number) => PushRequest;
  /** The request that an answer leads to at once, such as a redirect's; undefined where it leads to none. */
  readonly requestAfter: (
    outcome: PushOutcome,
    request: PushRequest,
    delivery: Delivery,
  ) => PushRequest | undefined;
  readonly acknowledges: (outcome: PushOutcome, delivery: Delivery) => boolean;
  /** Whether another push follows, the cap apart; `delivery.acknowledged` is settled by now. */
  readonly pushesAgain: (outcome: PushOutcome, delivery: Delivery, service: Service) => boolean;
  /** What the end of a push does besides; each change to another delivery has to be followed by `replan`. */
  readonly afterPush: (
    outcome: PushOutcome,
    delivery: Delivery,
    pending: PendingDeliveries,
    service: Service,
  ) => void;
  /** How long the sender waits for the whole of an answer. */
  readonly senderTimeoutMs: (delivery: Delivery, service: Service) => number;
  /** Whether that goes by real time, as time-outs of sockets do, whatever clock the schedule goes by. */
  readonly timesOutInRealTime: () => boolean;
  readonly checksCertificate: (callback: Callback) => boolean;
  readonly keepsConnections: () => boolean;
  /** How many pushes may be under way at once. */
  readonly pushesInFlight: (service: Service) => number;
  /** Which of the waiting ones (never none) is pushed next, by its index. */
  readonly nextInLine: (waiting: readonly Delivery[]) => number;
}

/** The deliveries that are not over yet, as decisions may see and change them. */
export interface PendingDeliveries {
  readonly all: () => readonly Delivery[];
  readonly count: () => number;
  /** Plans the next push again where none is under way. */
  readonly replan: (delivery: Delivery) => void;
  /** Ends a delivery: nothing more is pushed. */
  readonly drop: (delivery: Delivery) => void;
}

/**
 * Every decision of the service, one function each. Routes ask and hold no opinion
 * of their own, so that a service that differs in one respect (a defect, a variant)
 * is this record with one function replaced.
 */
export interface Behaviour
  extends
    HttpDecisions,
    AuthorizeDecisions,
    CodeDecisions,
    TokenDecisions,
    ListDecisions,
    EventDecisions,
    PushDecisions {
  /** The paths that an operation is served under (sections 4 and 9). Asked once, before the service listens. */
  readonly pathsOf: (operation: Operation) => readonly string[];
}

/** How one service differs from the sound one. Called once per service, so that it may keep its own state. */
export type Replaces = (sound: Behaviour) => Partial<Behaviour>;
