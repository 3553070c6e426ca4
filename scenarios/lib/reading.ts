import { epochMs } from "./clock.ts";
import type { ScriptClient } from "../protocol.ts";
import { type Exchange, isSuccess } from "./exchange.ts";
import { before, judgeOwnPage, type Account, createAudience } from "./oracles/account.ts";
import type { Page } from "../../conformance/judging/laws/pages.ts";
import { judgePage, judgeShape, pageOf, type ListQuery } from "./oracles/pages.ts";
import { accountsAreOwn, requests } from "./iteration.ts";
import { report, triggered } from "./report.ts";
import { send, sendTogether } from "./send.ts";
import { settings } from "./settings.ts";
import { dropToken, judgeUse, type Session } from "./session.ts";
import { toldId } from "../../conformance/contract/placeholders.ts";
import type { Request } from "./requests.ts";

export const hasEvents = requests.trigger !== undefined;

/** Clients whose list the preflight requires. What events create may belong to the first client alone. */
export const listedClients = settings.clients.slice(0, hasEvents ? 1 : undefined);

/** k6 sends a GET again if its kept connection ends before the answer begins, without telling. */
export const eventsMayRepeat = settings.trigger?.method === "GET";

/**
 * The request that makes the service create a notification for the account; the account counts it as begun immediately.
 */
export const beginEvent = (client: ScriptClient, account: Account): Request => {
  if (requests.trigger === undefined) throw new Error("the profile has no hook events.trigger");
  account.begun += 1;
  if (eventsMayRepeat) account.mayRepeat = true;
  return requests.trigger(client, account.accountId);
};

/** Records the result of an event. An event without a success may or may not have created something. */
export const endEvent = (account: Account, sentAtMs: number, answer: Exchange): void => {
  if (!isSuccess(answer)) {
    account.doubtful = true;
    return;
  }
  const id = notificationIn(answer);
  account.acknowledged.push({ atMs: epochMs(), id });
  triggered(sentAtMs, account.accountId, id);
};

export const notificationIn = ({ text }: Exchange): string | undefined =>
  toldId({ text }, settings.trigger?.result);

const { defaultLimit } = settings.limits;
export const audience = createAudience(
  listedClients.map(({ id }) => id),
  defaultLimit,
);

export interface Read {
  readonly exchange: Exchange;
  readonly page: Page | undefined;
  /** The page appears to belong to this request: its items match, are unique, and are not too many. */
  readonly isSound: boolean;
}

/** A query, and whether it may match nothing for a reason that only the caller knows. */
export type Asked = ListQuery & { readonly mayBeNothing?: boolean };

interface ReadOptions {
  /** The client's account, if the virtual user knows one: queries by account are about it. */
  readonly account?: Account;
  readonly events?: number;
}

/** Reads the list, with several queries concurrently, and judges each page by itself and against its account. */
export const read = (
  session: Session,
  asked: readonly Asked[],
  { account, events = 0 }: ReadOptions = {},
): readonly Read[] => {
  const sentAtMs = epochMs();
  const own = account && { account, known: before(account, sentAtMs, settings.visibilityMs) };
  const triggers =
    account === undefined ? [] : Array.from({ length: events }, () => beginEvent(session.client, account));
  // As known before the answers.
  const queries = asked.map(({ mayBeNothing = false, ...query }) => ({
    query,
    mayBeRefused: mayBeNothing || audience.mayBeNothing(session.client.id, query, account),
  }));
  const reads = queries.map(({ query, mayBeRefused }) =>
    requests.list(session.accessToken, query, mayBeRefused),
  );
  const answers = sendTogether([...triggers, ...reads]);
  if (account !== undefined)
    for (const answer of answers.slice(0, triggers.length)) endEvent(account, sentAtMs, answer);
  return queries.map(({ query, mayBeRefused }, index) => {
    const exchange = answers[triggers.length + index] as Exchange;
    const page = pageOf(exchange);
    if (page !== undefined) audience.shows(session.client.id, page);
    const checks = page === undefined ? [] : judgePage(query, page, defaultLimit);
    // If the filter is broken, the account's counts are as well: only one breach is reported.
    const isSound = checks.every(({ breach }) => breach === undefined);
    const ofUse = mayBeRefused && page === undefined ? [] : judgeUse(session, exchange);
    const ofAccount =
      page !== undefined &&
      own !== undefined &&
      isSound &&
      isAbout(query, own.account) &&
      audience.sees(session.client.id, own.account, page)
        ? judgeOwnPage(own.account, own.known, query, page, defaultLimit)
        : [];
    report([...ofUse, ...judgeShape(exchange), ...checks, ...ofAccount], [exchange]);
    if (exchange.status === 401) dropToken(session);
    return { exchange, page, isSound };
  });
};

export const trigger = (client: ScriptClient, account: Account): void => {
  const sentAtMs = epochMs();
  endEvent(account, sentAtMs, send(beginEvent(client, account)));
};

/** Totals and page sizes are only known for the client's own account as a whole. */
const isAbout = ({ id, accountId }: ListQuery, account: Account): boolean =>
  accountsAreOwn && !account.doubtful && id === undefined && accountId === account.accountId;
