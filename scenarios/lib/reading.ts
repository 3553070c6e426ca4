import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import type { Exchange } from "./exchange.ts";
import { before, judgeOwnPage, type Account } from "./oracles/account.ts";
import { createAudience } from "./oracles/audience.ts";
import type { Page } from "../../conformance/judging/laws/pages.ts";
import { judgePage, judgeShape, pageOf, type ListQuery } from "./oracles/pages.ts";
import { beginEvent, endEvent } from "./events.ts";
import { accountsAreOwn, requests } from "./iteration.ts";
import { report } from "./report.ts";
import { send, sendTogether } from "./send.ts";
import { settings } from "./settings.ts";
import { dropToken, judgeUse, type Session } from "./session.ts";

const { defaultLimit } = settings.limits;
const audience = createAudience(settings.clients[0]?.id);

export interface Read {
  readonly exchange: Exchange;
  readonly page: Page | undefined;
  /** The page appears to belong to this request: its items match, are unique, and are not too many. */
  readonly isSound: boolean;
}

/** A query, and whether a refusal is as good as an empty page: it may match nothing, or its page is past the end. */
export type Asked = ListQuery & { readonly mayBeRefused?: boolean };

interface ReadOptions {
  /** The account the queries are about, if the virtual user knows it. */
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
  const reads = asked.map(({ mayBeRefused, ...query }) =>
    requests.list(session.accessToken, query, mayBeRefused),
  );
  const answers = sendTogether([...triggers, ...reads]);
  if (account !== undefined)
    for (const answer of answers.slice(0, triggers.length)) endEvent(account, sentAtMs, answer);
  return asked.map(({ mayBeRefused = false, ...query }, index) => {
    const exchange = answers[triggers.length + index] as Exchange;
    const page = pageOf(exchange);
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
