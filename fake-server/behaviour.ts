import type { Answer, Fields, Refusal, RefusalKind } from "./answer.ts";
import type { JsonObject, Query } from "./requests.ts";
import type { FakeClient } from "./clients.ts";
import type {
  Context,
  Operation,
  Service,
  AccessRecord,
  CodeRecord,
  RefreshRecord,
  Callback,
  Delivery,
  PushOutcome,
  PushRequest,
} from "./context.ts";
import type { Notification, Selection } from "./notifications.ts";
import type { RandomSource } from "./random.ts";

type Clients = ReadonlyMap<string, FakeClient>;

/** How requests are read and answers written, for all operations. */
export interface HttpDecisions {
  /** Whether the request is admitted: undefined, or the refusal. */
  readonly admission: (context: Context) => Refusal | undefined;
  /** Real milliseconds before the request is processed. */
  readonly latencyMs: (context: Context) => number;
  /** The decoded query; undefined if it cannot be decoded. */
  readonly readQuery: (raw: string, context: Context) => Query | undefined;
  /** Refuses repeated or unknown parameters. */
  readonly parametersRefusal: (query: Query, context: Context) => RefusalKind | undefined;
  readonly contentTypeRefusal: (contentType: string | undefined, context: Context) => RefusalKind | undefined;
  /** The JSON object in a body; undefined if it has none. */
  readonly readBody: (raw: Buffer, context: Context) => JsonObject | undefined;
  readonly timestamp: (context: Context) => unknown;
  readonly renderSuccess: (fields: Fields, context: Context) => Answer;
  readonly renderRefusal: (refusal: Refusal, context: Context) => Answer;
  /** Final changes to every answer: headers, framing, and when it is sent. */
  readonly finish: (answer: Answer, context: Context) => Answer | Promise<Answer>;
}

/** Obtaining a code (sections 2.1 and 4.1). */
export interface AuthorizeDecisions {
  readonly findClientToAuthorize: (clientId: string | undefined, clients: Clients) => FakeClient | undefined;
  readonly acceptsRedirectUri: (redirectUri: string | undefined, client: FakeClient, query: Query) => boolean;
  readonly acceptsState: (state: string | undefined, query: Query, context: Context) => boolean;
  readonly mintCode: (client: FakeClient, state: string, context: Context) => string;
  /** Whether and when a new code becomes exchangeable. */
  readonly keepCode: (record: CodeRecord, context: Context) => void;
  readonly authorizeFields: (record: CodeRecord, timestamp: unknown, context: Context) => Fields;
  readonly renderAuthorized: (fields: Fields, redirectUri: string, context: Context) => Answer;
}

/** The life of a code (section 3.1). */
export interface CodeDecisions {
  readonly findCode: (presented: unknown, context: Context) => CodeRecord | undefined;
  readonly codeBelongsTo: (record: CodeRecord, client: FakeClient) => boolean;
  readonly codeIsAlive: (record: CodeRecord, context: Context) => boolean;
  /** Uses up the code: true for the single caller that may have tokens for it. */
  readonly takeCode: (record: CodeRecord, context: Context) => boolean | Promise<boolean>;
  /** Effect of a refused exchange on the code it named, if any. */
  readonly afterRefusedExchange: (
    record: CodeRecord | undefined,
    kind: RefusalKind,
    context: Context,
  ) => void;
  /** Side effects of a successful exchange. */
  readonly afterExchange: (record: CodeRecord, tokens: RefreshRecord, context: Context) => void;
}

/** Client authentication and token issue (sections 2.2, 4.2, 4.3, 5). */
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
  /** The `expiresIn` field of a token with this lifetime. */
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
  /** Whether and when a new access token becomes valid. */
  readonly keepAccessToken: (record: AccessRecord, context: Context) => void;
  readonly keepRefreshToken: (record: RefreshRecord, context: Context) => void;
  readonly findRefreshToken: (presented: unknown, context: Context) => RefreshRecord | undefined;
  readonly refreshTokenBelongsTo: (record: RefreshRecord, client: FakeClient) => boolean;
  readonly refreshTokenIsAlive: (record: RefreshRecord, context: Context) => boolean;
  /** Acquires the refresh token for one use: false if another use is in the way. */
  readonly takeRefreshToken: (record: RefreshRecord, context: Context) => boolean | Promise<boolean>;
  readonly afterRefusedRefresh: (
    record: RefreshRecord | undefined,
    kind: RefusalKind,
    context: Context,
  ) => void;
  /** Effect of a refresh on earlier tokens; `previous` is the access token issued last. */
  readonly afterRefresh: (record: RefreshRecord, previous: AccessRecord, context: Context) => void;
  readonly readAccessToken: (context: Context) => string | undefined;
  readonly findAccessToken: (presented: string, context: Context) => AccessRecord | undefined;
  readonly accessTokenIsAlive: (record: AccessRecord, context: Context) => boolean;
}

/** The filters of a notification request; undefined means no filter. */
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
  /** The page size for the query's value; undefined refuses it. */
  readonly limitFor: (asked: string | undefined, context: Context) => number | undefined;
  /** The page number for the query's value; undefined refuses it. */
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
  ) => readonly Notification[] | Promise<readonly Notification[]>;
  /** Whether an empty page is answered rather than refused. */
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

/** How the service handles a business event, which no client requested. */
export interface EventDecisions {
  readonly mintNotificationId: (random: RandomSource, nowMs: number) => string;
  readonly createTime: (nowMs: number, service: Service) => string;
  /** The client that a notification belongs to; undefined if the event names none. */
  readonly ownerOf: (clientId: string | undefined, service: Service) => string;
  /** How long a new notification stays out of the list, in milliseconds of the service's clock. */
  readonly visibilityDelayMs: (service: Service) => number;
  /** Stores a notification where the list finds it. */
  readonly keepNotification: (notification: Notification, owner: string, service: Service) => void;
}

/** Pushing notifications to the callback (sections 4.5, 6 and 8). Times are milliseconds of the service's clock. */
export interface PushDecisions {
  readonly pushesEvent: (notification: Notification, service: Service) => boolean;
  /** Delay of push number `attempt` (from 1) after its anchor. */
  readonly pushDelayMs: (attempt: number, delivery: Delivery, service: Service) => number;
  /** The moment from which the delay of the next push counts. */
  readonly pushAnchorMs: (delivery: Delivery, service: Service) => number;
  /** Jitter added to a delay to spread pushes. */
  readonly pushJitterMs: (attempt: number, service: Service) => number;
  /** When the sender notices that push number `attempt` is due at `dueMs`. */
  readonly pushNoticedMs: (dueMs: number, attempt: number, service: Service) => number;
  /** Maximum number of pushes of a notification, including the first. */
  readonly maxPushes: (delivery: Delivery, service: Service) => number;
  /** Effect of a new event on pending deliveries; each change must be followed by `replan`. */
  readonly onNewDelivery: (delivery: Delivery, pending: PendingDeliveries, service: Service) => void;
  /** Number of workers that send a due push: one, unless they conflict. */
  readonly pushCopies: (delivery: Delivery, attempt: number) => number;
  readonly pushBody: (delivery: Delivery, attempt: number, service: Service) => string;
  readonly pushHeaders: (delivery: Delivery, attempt: number, service: Service) => Record<string, string>;
  /** Final changes to the request of a push. */
  readonly pushRequest: (request: PushRequest, delivery: Delivery, attempt: number) => PushRequest;
  /** The request that immediately follows an answer, such as a redirect's; undefined if none. */
  readonly requestAfter: (
    outcome: PushOutcome,
    request: PushRequest,
    delivery: Delivery,
  ) => PushRequest | undefined;
  readonly acknowledges: (outcome: PushOutcome, delivery: Delivery) => boolean;
  /** Whether another push follows, ignoring the cap; `delivery.acknowledged` is already set. */
  readonly pushesAgain: (outcome: PushOutcome, delivery: Delivery, service: Service) => boolean;
  /** Side effects of the end of a push; each change to another delivery must be followed by `replan`. */
  readonly afterPush: (
    outcome: PushOutcome,
    delivery: Delivery,
    pending: PendingDeliveries,
    service: Service,
  ) => void;
  /** How long the sender waits for a complete answer. */
  readonly senderTimeoutMs: (delivery: Delivery, service: Service) => number;
  /** Whether that timeout uses real time, like socket timeouts, whatever clock the schedule uses. */
  readonly timesOutInRealTime: () => boolean;
  readonly checksCertificate: (callback: Callback) => boolean;
  readonly keepsConnections: () => boolean;
  readonly pushesInFlight: (service: Service) => number;
  /** Index of the waiting delivery (there is at least one) to push next. */
  readonly nextInLine: (waiting: readonly Delivery[]) => number;
}

/** The unfinished deliveries, which decisions may inspect and change. */
export interface PendingDeliveries {
  readonly all: () => readonly Delivery[];
  readonly count: () => number;
  /** Reschedules the next push unless one is in flight. */
  readonly replan: (delivery: Delivery) => void;
  /** Ends a delivery: no more pushes. */
  readonly drop: (delivery: Delivery) => void;
}

/**
 * Every decision of the service, one function each. Routes ask and decide nothing themselves, so that a service that
 * differs in one respect (a defect, a variant) is this record with one function replaced.
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
  /** The paths of an operation (sections 4 and 9). Called once, before the service listens. */
  readonly pathsOf: (operation: Operation) => readonly string[];
}

/** How a service differs from the sound one. Called once per service, so that it may keep its own state. */
export type Replaces = (sound: Behaviour) => Partial<Behaviour>;
