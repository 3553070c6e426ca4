import { grantOf } from "./answers.ts";
import type { LeftBehind } from "../contract/left-behind.ts";
import type { Limits } from "../contract/limits.ts";
import { endpoints } from "../contract/forms.ts";
import type { Answer, Request } from "./exchange.ts";
import { parseJson } from "./http/receive.ts";

/** The latest moment at which the target's clock may stand, and whether it counts from 1970. */
export interface EstimatedNow {
  readonly nowMs: number;
  readonly isDate: boolean;
}

/** Keeps account of what a run makes on its target. */
export interface LeftBehindAccount {
  /** Takes note of what an answer gave, or of the code that it used up. */
  readonly onAnswer: (request: Request, answer: Omit<Answer, "exchange">) => void;
  /** A code that came by another way. */
  issuedCode(code: string): void;
  created(accountId: string, id: string | undefined): void;
  /** An event of which nobody knows whether it was created. */
  maybeCreated(): void;
  registered(callbackUrl: string): void;
  /** The address that the service was told last. */
  callbackUrl(): string | undefined;
  /** Accounts and notifications one by one, for whoever can remove them. */
  ids(): { readonly accountIds: readonly string[]; readonly notificationIds: readonly string[] };
  report(): Omit<LeftBehind, "callback" | "cleanup">;
}

interface Issued {
  /** The latest moment of issue; undefined where the target's clock had not been read yet. */
  readonly issuedMs: number | undefined;
  readonly lifetimeMs: number;
  isUsed: boolean;
}

export interface LeftBehindOptions {
  readonly limits: Pick<Limits, "codeLifetimeMs" | "refreshTokenLifetimeMs">;
  /** Tells the target's time without asking for it; undefined before it was read for the first time. */
  readonly estimate: () => EstimatedNow | undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

export const createLeftBehind = ({ limits, estimate }: LeftBehindOptions): LeftBehindAccount => {
  const codes = new Map<string, Issued>();
  const accessTokens = new Map<string, Issued>();
  const refreshTokens = new Map<string, Issued>();
  const accounts = new Set<string>();
  const notifications: { readonly accountId: string; readonly id?: string }[] = [];
  let unsure = 0;
  let callbackUrl: string | undefined;
  let firstMs: number | undefined;

  const issue = (kind: Map<string, Issued>, value: unknown, lifetimeMs: number): void => {
    if (typeof value !== "string" || value === "" || kind.has(value)) return;
    const issuedMs = estimate()?.nowMs;
    firstMs ??= issuedMs;
    kind.set(value, { issuedMs, lifetimeMs, isUsed: false });
  };

  const credentials = (kind: ReadonlyMap<string, Issued>): LeftBehind["codes"] => {
    const now = estimate();
    const nowMs = now?.nowMs ?? 0;
    const endsMs = [...kind.values()].flatMap(({ issuedMs, lifetimeMs, isUsed }) => {
      const endMs = (issuedMs ?? firstMs ?? nowMs) + lifetimeMs;
      return isUsed || endMs <= nowMs ? [] : [endMs];
    });
    const lastMs = endsMs.reduce((last, endMs) => Math.max(last, endMs), -Infinity);
    const isDate = now?.isDate === true && Math.abs(lastMs) <= LATEST_DATE_MS;
    return {
      issued: kind.size,
      valid: endsMs.length,
      ...(endsMs.length === 0
        ? {}
        : {
            lastEndsInMs: Math.round(lastMs - nowMs),
            ...(isDate ? { lastEndsAt: new Date(lastMs).toISOString() } : {}),
          }),
    };
  };

  return {
    onAnswer: (request, answer) => {
      const { json } = answer;
      const path = request.path.replace(/\?.*$/s, "");
      if (path.endsWith(endpoints.authorize.path))
        issue(codes, grantOf({ exchange: 0, ...answer })?.code, limits.codeLifetimeMs);
      if (!isObject(json) || typeof json["accessToken"] !== "string") return;
      const expiresInMs = Number(json["expiresIn"]) * 1_000;
      issue(accessTokens, json["accessToken"], expiresInMs > 0 ? expiresInMs : 0);
      issue(refreshTokens, json["refreshToken"], limits.refreshTokenLifetimeMs);
      const sent = path.endsWith(endpoints.exchange.path) ? parseJson(request.body ?? "") : undefined;
      // Probes send arrays in its place that are nested too deep to be made a text of.
      const code = isObject(sent) ? sent["code"] : undefined;
      const used = typeof code === "string" ? codes.get(code) : undefined;
      if (used !== undefined) used.isUsed = true;
    },
    issuedCode: (code) => issue(codes, code, limits.codeLifetimeMs),
    created: (accountId, id) => {
      accounts.add(accountId);
      notifications.push({ accountId, ...(id === undefined ? {} : { id }) });
    },
    maybeCreated: () => {
      unsure += 1;
    },
    registered: (url) => {
      callbackUrl = url;
    },
    callbackUrl: () => callbackUrl,
    ids: () => ({
      accountIds: [...accounts],
      notificationIds: notifications.flatMap(({ id }) => (id === undefined ? [] : [id])),
    }),
    report: () => {
      const [first, last] = [notifications[0], notifications.at(-1)];
      return {
        codes: credentials(codes),
        accessTokens: credentials(accessTokens),
        refreshTokens: credentials(refreshTokens),
        notifications: {
          created: notifications.length,
          unsure,
          accounts: accounts.size,
          ...(first === undefined ? {} : { first }),
          ...(last === undefined ? {} : { last }),
        },
      };
    },
  };
};

/** What a Date can hold. */
const LATEST_DATE_MS = 8.64e15;
