import { grantOf, type Answer, type Request } from "./exchange.ts";
import type { LeftBehind } from "../contract/left-behind.ts";
import { pathIn } from "../contract/text.ts";
import { given } from "../contract/given.ts";
import type { ClockSource } from "./clock.ts";
import type { Limits } from "../contract/limits.ts";
import { endpoints } from "../contract/forms.ts";
import { isObject, parseJson } from "../contract/json.ts";

/** Keeps track of what a run creates on its target. */
export type LeftBehindAccount = ReturnType<typeof createLeftBehind>;

interface Issued {
  /** The latest possible moment of issue; undefined if the target's clock had not been read yet. */
  readonly issuedMs: number | undefined;
  readonly lifetimeMs: number;
  isUsed: boolean;
}

interface LeftBehindOptions {
  readonly limits: Pick<Limits, "codeLifetimeMs" | "refreshTokenLifetimeMs">;
  /** The target's time without asking for it; undefined before the first reading. */
  readonly estimate: NonNullable<ClockSource["estimate"]>;
}

/** Issued credentials of each kind, and how many are still valid. */
const createIssues = (estimate: LeftBehindOptions["estimate"]) => {
  const kinds = {
    codes: new Map<string, Issued>(),
    accessTokens: new Map<string, Issued>(),
    refreshTokens: new Map<string, Issued>(),
  };
  let firstMs: number | undefined;
  return {
    add: (kind: keyof typeof kinds, value: unknown, lifetimeMs: number): void => {
      if (typeof value !== "string" || value === "" || kinds[kind].has(value)) return;
      const issuedMs = estimate()?.nowMs;
      firstMs ??= issuedMs;
      kinds[kind].set(value, { issuedMs, lifetimeMs, isUsed: false });
    },
    use: (code: string): void => {
      const used = kinds.codes.get(code);
      if (used !== undefined) used.isUsed = true;
    },
    report: (kind: keyof typeof kinds): LeftBehind["codes"] => {
      const now = estimate();
      const nowMs = now?.nowMs ?? 0;
      const endsMs = [...kinds[kind].values()].flatMap(({ issuedMs, lifetimeMs, isUsed }) => {
        const endMs = (issuedMs ?? firstMs ?? nowMs) + lifetimeMs;
        return isUsed || endMs <= nowMs ? [] : [endMs];
      });
      const lastMs = endsMs.reduce((last, endMs) => Math.max(last, endMs), -Infinity);
      const isDate = now?.isDate === true && Math.abs(lastMs) <= LATEST_DATE_MS;
      return {
        issued: kinds[kind].size,
        valid: endsMs.length,
        ...(endsMs.length > 0 && { lastEndsInMs: Math.round(lastMs - nowMs) }),
        ...(isDate && { lastEndsAt: new Date(lastMs).toISOString() }),
      };
    },
  };
};

type Issues = ReturnType<typeof createIssues>;

export const createLeftBehind = ({ limits, estimate }: LeftBehindOptions) => {
  const issues = createIssues(estimate);
  const accounts = new Set<string>();
  const notifications: { readonly accountId: string; readonly id?: string }[] = [];
  let unsure = 0;
  let callbackUrl: string | undefined;
  return {
    /** Records what an answer issued, or the code that it used up. */
    onAnswer: (request: Request, answer: Omit<Answer, "exchange">): void =>
      noteAnswer(issues, limits, request, answer),
    /** Records a code that came in another way. */
    issuedCode: (code: string): void => issues.add("codes", code, limits.codeLifetimeMs),
    created: (accountId: string, id: string | undefined): void => {
      accounts.add(accountId);
      notifications.push({ accountId, ...given({ id }) });
    },
    /** Records an event that may or may not have been created. */
    maybeCreated: (): void => {
      unsure += 1;
    },
    registered: (url: string): void => {
      callbackUrl = url;
    },
    /** The address that the service was last told to push to. */
    callbackUrl: (): string | undefined => callbackUrl,
    /** All accounts and notifications, for a clean-up hook. */
    ids: () => ({
      accountIds: [...accounts],
      notificationIds: notifications.flatMap(({ id }) => (id === undefined ? [] : [id])),
    }),
    report: (): Omit<LeftBehind, "callback" | "cleanup"> => ({
      codes: issues.report("codes"),
      accessTokens: issues.report("accessTokens"),
      refreshTokens: issues.report("refreshTokens"),
      notifications: {
        created: notifications.length,
        unsure,
        accounts: accounts.size,
        ...given({ first: notifications[0], last: notifications.at(-1) }),
      },
    }),
  };
};

const noteAnswer = (
  issues: Issues,
  limits: LeftBehindOptions["limits"],
  request: Request,
  answer: Omit<Answer, "exchange">,
): void => {
  const { json } = answer;
  const path = pathIn(request.path);
  if (path.endsWith(endpoints.authorize.path))
    issues.add("codes", grantOf({ exchange: 0, ...answer })?.code, limits.codeLifetimeMs);
  if (!isObject(json) || typeof json["accessToken"] !== "string") return;
  const expiresInMs = Number(json["expiresIn"]) * 1_000;
  issues.add("accessTokens", json["accessToken"], expiresInMs > 0 ? expiresInMs : 0);
  issues.add("refreshTokens", json["refreshToken"], limits.refreshTokenLifetimeMs);
  const sent = path.endsWith(endpoints.exchange.path) ? parseJson(request.body ?? "") : undefined;
  // Probes may send arrays instead that are nested too deep to stringify.
  const code = isObject(sent) ? sent["code"] : undefined;
  if (typeof code === "string") issues.use(code);
};

/** The latest time that a Date can represent. */
const LATEST_DATE_MS = 8.64e15;
