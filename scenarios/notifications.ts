import { epochMs } from "./lib/clock.ts";
import exec from "k6/execution";
import { hasEvents, eventsMayRepeat, beginEvent, endEvent, read, type Read } from "./lib/reading.ts";
import { drawKind, oneWriterIn, readKinds, readsPerIteration } from "./lib/mix.ts";
import { newAccount, isSettled, judgeTotalWithin, noteSeen, type Account } from "./lib/oracles/account.ts";
import { judgeDefaultPage, judgeMatches, judgePastTheEnd, judgeWalk } from "./lib/oracles/reads.ts";
import { accountsAreOwn, requests, type IterationContext, scenario } from "./lib/iteration.ts";
import { preflightLists } from "./lib/preflight.ts";
import { report, trouble } from "./lib/report.ts";
import { settings } from "./lib/settings.ts";
import { createOwnSession } from "./lib/issue.ts";
import { isNearItsEnd, logIn, type Session } from "./lib/session.ts";
import { sleep } from "k6";
import type { ScriptClient } from "./protocol.ts";
import { pageOf } from "./lib/oracles/pages.ts";
import type { Page } from "../conformance/judging/laws/pages.ts";
import type { Check } from "./lib/exchange.ts";
import { send, sendTogether } from "./lib/send.ts";

/*
 * The list of notifications: pages, filters and walks of accounts that are not being written to, and reads of a growing
 * account. Each virtual user writes to its own account, so that it can count.
 */

const ownSession = createOwnSession<Session>(isNearItsEnd);
/** The accounts at rest of its client; undefined before its first session. */
let settled: readonly Account[] | undefined;
let growing: Account | undefined;

const { defaultLimit } = settings.limits;
/** Writing stops once an account has this many notifications. */
const fullSize = 2 * defaultLimit + 4;

const readLists = (context: IterationContext, fixtures: Fixtures): void => {
  const session = liveSession(context, fixtures);
  if (session === undefined) return;
  const account = settled?.[context.random.below(settled.length)];
  // Uses the number within this segment: numbers of the whole test are dealt round robin, so some segments
  // would have no writer.
  const isWriter = exec.vu.idInInstance % oneWriterIn === 0;
  if (!hasEvents) readWhatIsThere(session);
  else if (account === undefined || isWriter) readBesideWrites(context, session);
  else courses[drawKind(readKinds, context.random)](context, session, account);
};

/** The virtual user's session with its client: the one from the set-up while its token lives. */
const liveSession = (context: IterationContext, fixtures: Fixtures): Session | undefined => {
  const session = ownSession({
    prepared: () => {
      const known = fixtures.sessions[context.random.below(fixtures.sessions.length)];
      return known === undefined ? undefined : { ...known };
    },
    logIn: (client) => logIn(context, client),
  });
  if (session !== undefined) settled ??= accountsOf(fixtures, session.client);
  return session;
};

const readBesideWrites = (context: IterationContext, session: Session): void => {
  if (growing === undefined || growing.doubtful || growing.begun >= fullSize)
    growing = newAccount(context.freshAccount());
  const account = growing;
  const { accountId } = account;
  // Alternates between its last page, so that all of it is seen, and a page of one.
  const other =
    context.random.below(2) === 0 ? { limit: 1 } : { page: Math.floor(account.begun / defaultLimit) };
  const queries = [{ accountId }, { accountId, ...other }];
  read(session, queries, { account, events: readsPerIteration - queries.length });
};

type Course = (context: IterationContext, session: Session, account: Account) => void;

const courses: Readonly<Record<keyof typeof readKinds, Course>> = {
  defaults: (_context, session, account) => {
    const { accountId } = account;
    const [without, first] = read(session, [{ accountId }, { accountId, page: 0 }], { account });
    // The two may differ until everything is listed, and a wrong first page is not a reference.
    const isWhole = [without, first].every((read) => read?.isSound && read.page?.total === account.begun);
    const fullFirst = Math.min(defaultLimit, account.begun);
    if (isWhole && without?.page !== undefined && first?.page?.items.length === fullFirst)
      report([judgeDefaultPage(without.page, first.page)], [without.exchange, first.exchange]);
    const others = [{ page: 1 }, { limit: 1 }].map((other) => ({ accountId, ...other }));
    read(session, others, { account });
  },

  lookUps: (context, session, account) => {
    const { accountId } = account;
    const id = [...account.seen.keys()][context.random.below(account.seen.size)];
    if (id === undefined) return courses.everything(context, session, account);
    const [foreignId = context.random.uuid()] =
      settled?.find((other) => other !== account)?.seen.keys() ?? [];
    const reads = read(session, [
      { id },
      { id, accountId },
      { id: foreignId, accountId, mayBeNothing: true },
      { id: context.random.uuid(), mayBeNothing: true },
    ]);
    matches("notifications.filter-id", reads[0], 1);
    matches("notifications.filters-combine", reads[1], 1);
    matches("notifications.filters-combine", reads[2], 0);
    matches("notifications.filter-id", reads[3], 0);
  },

  walk: (context, session, account) => {
    const { accountId } = account;
    const limit = Math.ceil(account.begun / pagesOfWalk);
    const asked = Array.from({ length: pagesOfWalk }, (_, page) => ({ accountId, limit, page }));
    const reads =
      context.random.below(2) === 0
        ? read(session, asked, { account })
        : asked.flatMap((one) => read(session, [one], { account }));
    const pages = reads.flatMap(({ page }) => page ?? []);
    const exchanges = reads.map(({ exchange }) => exchange);
    const areSound = reads.every(({ isSound }) => isSound);
    if (areSound && pages.length === pagesOfWalk && pages.every(({ total }) => total === account.begun))
      report([judgeWalk(pages, account.begun)], exchanges);
    const [past] = read(session, [{ accountId, limit, page: pagesOfWalk }], { account });
    if (past?.page !== undefined && past.isSound)
      report([judgePastTheEnd(past.page, new Set(account.seen.keys()))], [past.exchange]);
  },

  everything: (_context, session, account) => {
    const sentAtMs = epochMs();
    const reads = read(session, [{}, { limit: 7 }, { page: 1 }], { account });
    for (const { page, exchange } of reads)
      if (page !== undefined) report([atLeast(account.seen.size, page)], [exchange]);
    if (reads[0] !== undefined) lookPastTotal(session, reads[0], sentAtMs);
  },
};

/** How many notifications a page has shown to be there, and when. */
let shown: { readonly least: number; readonly atMs: number } | undefined;

/**
 * Reads the page on which the list ends by its total. What it holds shows how many notifications there are at least,
 * and a total that was read between two such pages, and late enough after the first for all of them to be listed, must
 * count as many. Two, because notifications of others may go meanwhile.
 */
const lookPastTotal = (session: Session, { page, exchange }: Read, sentAtMs: number): void => {
  if (page === undefined || typeof page.total !== "number" || page.items.length !== defaultLimit) return;
  const number = Math.floor(page.total / defaultLimit);
  const [last] = read(session, [{ page: number }]);
  const count = last?.isSound === true ? (last.page?.items.length ?? 0) : 0;
  const least = count === 0 ? 0 : number * defaultLimit + count;
  if (shown !== undefined && shown.atMs > sentAtMs - settings.visibilityMs) return;
  if (shown !== undefined && last !== undefined)
    report([atLeast(Math.min(shown.least, least), page)], [exchange, last.exchange]);
  shown = { least, atMs: epochMs() };
};

const atLeast = (least: number, page: Page): Check => judgeTotalWithin({ least, most: Infinity }, page);

const pagesOfWalk = 3;

/** If nothing can be written, looks up what the first page shows. */
const readWhatIsThere = (session: Session): void => {
  const [first] = read(session, [{}]);
  const item = first?.page?.items[0];
  if (item === undefined) return;
  const [id, accountId] = [String(item["id"]), String(item["accountId"])];
  const reads = read(session, [{ id }, { id, accountId }, { accountId, limit: 5 }]);
  matches("notifications.filter-id", reads[0], 1);
  matches("notifications.filters-combine", reads[1], 1);
};

const matches = (
  rule: "notifications.filter-id" | "notifications.filters-combine",
  read: Read | undefined,
  count: 0 | 1,
): void => {
  if (read?.page !== undefined && read.isSound) report(judgeMatches(rule, read.page, count), [read.exchange]);
};

/*
 * Accounts filled before the load and never written again. Virtual users share no memory, but all receive what k6's
 * set-up returns, so they all know the exact content of these accounts.
 */

/** Data passed from the set-up to the virtual users. */
interface Fixtures {
  /** One login per client; virtual users log in themselves when its token is about to expire. */
  readonly sessions: readonly (Session | undefined)[];
  readonly accounts: readonly {
    readonly client: number;
    readonly accountId: string;
    readonly begun: number;
    readonly acknowledged: Account["acknowledged"];
    readonly seen: readonly string[];
  }[];
}

/**
 * Slightly more than two pages and than one page, so that defaults, limits and walks are distinguishable from
 * off-by-one errors.
 */
const sizes = [2 * defaultLimit + 4, defaultLimit + 3];

const createFixtures = (context: IterationContext, isTimeUp: () => boolean): Fixtures => {
  const sessions = settings.clients.map((client) => (isTimeUp() ? undefined : logIn(context, client)));
  // Nobody knows what is in an account whose events may have happened more than once.
  const canFill = hasEvents && accountsAreOwn && !eventsMayRepeat && !settings.preflight;
  const accounts = sessions.flatMap((session, client) =>
    session === undefined || !canFill
      ? []
      : sizes
          .flatMap((size) => filledSurely(context, session, size, isTimeUp) ?? [])
          .map((account) => ({ ...account, client, seen: [...account.seen.keys()] })),
  );
  if (accounts.length === 0 && hasEvents && !settings.preflight)
    trouble(`lists of accounts at rest were not checked, because ${whyNoAccount}`);
  return { sessions, accounts };
};

const TRIES = 3;

const whyNoAccount = !accountsAreOwn
  ? "others may write to those that the profile names (accounts)"
  : eventsMayRepeat
    ? "events whose hook is called by GET may happen more than once: give hooks.events.trigger a method or a body"
    : `in ${TRIES} tries none could be filled without an event that failed`;

/** An account of which it is known what is in it; undefined if there is none after some tries. */
const filledSurely = (
  context: IterationContext,
  session: Session,
  size: number,
  isTimeUp: () => boolean,
): Account | undefined => {
  for (let number = 1; number <= TRIES && !isTimeUp(); number += 1) {
    const account = filled(context, session, size, isTimeUp);
    if (!account.doubtful && account.begun > 0) return account;
  }
  return undefined;
};

const TOGETHER = 6;

const filled = (
  context: IterationContext,
  session: Session,
  size: number,
  isTimeUp: () => boolean,
): Account => {
  const account = newAccount(context.freshAccount());
  // A doubtful one is of no use, so another begins.
  while (account.begun < size && !account.doubtful && !isTimeUp()) {
    const sentAtMs = epochMs();
    const begun = Array.from({ length: Math.min(TOGETHER, size - account.begun) }, () =>
      beginEvent(session.client, account),
    );
    for (const answer of sendTogether(begun)) endEvent(account, sentAtMs, answer);
  }
  if (!account.doubtful) readAll(session, account, isTimeUp);
  return account;
};

/**
 * Reads the account's pages until everything was seen, but not for long: if notifications are slow to be listed,
 * virtual users judge by what must be there by then, and see the rest themselves.
 */
const readAll = (session: Session, account: Account, isTimeUp: () => boolean): void => {
  for (const pauseS of [0, 0.05, 0.1, 0.2, 0.4]) {
    sleep(pauseS);
    for (let page = 0; page * defaultLimit < account.begun && !isTimeUp(); page += 1) {
      const answer = send(requests.list(session.accessToken, { accountId: account.accountId, page }, true));
      const seen = pageOf(answer);
      if (seen !== undefined) noteSeen(account, seen);
    }
    if (isSettled(account) || account.doubtful) return;
  }
};

const accountsOf = (fixtures: Fixtures, client: ScriptClient): readonly Account[] =>
  fixtures.accounts
    .filter((kept) => settings.clients[kept.client]?.id === client.id)
    .map(({ accountId, begun, acknowledged, seen }) => ({
      ...newAccount(accountId),
      begun,
      acknowledged: [...acknowledged],
      seen: new Map(seen.map((id) => [id, undefined])),
    }));

export const notifications = scenario({
  setUp: createFixtures,
  preflight: preflightLists,
  iteration: readLists,
});
