import exec from "k6/execution";
import { hasEvents } from "./lib/events.ts";
import { drawKind, oneWriterIn, readKinds, readsPerIteration } from "./lib/mix.ts";
import { optionsFor, setupTimeout } from "./lib/options.ts";
import { newAccount, type Account } from "./lib/oracles/account.ts";
import {
  judgeDefaultPage,
  judgeMatches,
  judgePastTheEnd,
  judgeWalk,
  judgeWhole,
} from "./lib/oracles/reads.ts";
import { iterate, type Play } from "./lib/play.ts";
import { preflightLists } from "./lib/preflight.ts";
import { read, type Read } from "./lib/reading.ts";
import { report } from "./lib/report.ts";
import { settings } from "./lib/settings.ts";
import { accountsOf, fillShelf, type Shelf } from "./lib/shelf.ts";
import { isNearItsEnd, logIn, type Visitor } from "./lib/visitor.ts";

/*
 * The list of notifications: pages, filters and walks of accounts that rest, and reads of an account
 * that grows meanwhile. Each virtual user writes to an account of its own, so that it can count.
 */

export const options = { ...optionsFor(settings), setupTimeout };
export const setup = fillShelf;
export const preflight = (): void => iterate(preflightLists);

let visitor: Visitor | undefined;
/** The accounts that nobody writes to, and the one that this virtual user writes to. */
let resting: readonly Account[] = [];
let growing: Account | undefined;

const { defaultLimit } = settings.limits;
/** An account that has come to this many notifications is left alone from then on. */
const fullSize = 2 * defaultLimit + 4;

export default (shelf: Shelf): void =>
  iterate((play) => {
    const guest = welcome(play, shelf);
    if (guest === undefined) return;
    const account = resting[play.random.below(resting.length)];
    const isWriter = exec.vu.idInTest % oneWriterIn === 0;
    if (!hasEvents) readWhatIsThere(guest);
    else if (account === undefined || isWriter) readBesideWrites(play, guest);
    else courses[drawKind(readKinds, play.random)](play, guest, account);
  });

/** Who this virtual user is: one of the clients, with the set-up's token as long as it lives. */
const welcome = (play: Play, shelf: Shelf): Visitor | undefined => {
  if (visitor !== undefined && !isNearItsEnd(visitor)) return visitor;
  const known = shelf.visitors[play.random.below(shelf.visitors.length)];
  visitor = visitor === undefined && known !== undefined ? { ...known } : logIn(play, visitor?.client);
  if (visitor !== undefined && resting.length === 0) resting = accountsOf(shelf, visitor.client);
  return visitor;
};

const readBesideWrites = (play: Play, visitor: Visitor): void => {
  if (growing === undefined || growing.doubtful || growing.begun >= fullSize)
    growing = newAccount(play.freshAccount());
  const account = growing;
  const { accountId } = account;
  const mayBeRefused = account.seen.size === 0;
  // Now its last page as well, so that all of it is seen, now a page of one.
  const other =
    play.random.below(2) === 0 ? { limit: 1 } : { page: Math.floor(account.begun / defaultLimit) };
  const queries = [
    { accountId, mayBeRefused },
    { accountId, mayBeRefused: true, ...other },
  ];
  read(visitor, queries, { account, events: readsPerIteration - queries.length });
};

type Course = (play: Play, visitor: Visitor, account: Account) => void;

const courses: Readonly<Record<keyof typeof readKinds, Course>> = {
  defaults: (_play, visitor, account) => {
    const { accountId } = account;
    const [without, first] = read(visitor, [{ accountId }, { accountId, page: 0 }], { account });
    // Before everything is listed the two may well differ, and a first page that is wrong itself is no measure.
    const isWhole = [without, first].every((read) => read?.isSound && read.page?.total === account.begun);
    const fullFirst = Math.min(defaultLimit, account.begun);
    if (isWhole && without?.page !== undefined && first?.page?.items.length === fullFirst)
      report(judgeDefaultPage(without.page, first.page), [without.exchange, first.exchange]);
    read(
      visitor,
      [
        { accountId, page: 1 },
        { accountId, limit: 1 },
      ],
      { account },
    );
  },

  lookUps: (play, visitor, account) => {
    const { accountId } = account;
    const id = [...account.seen][play.random.below(account.seen.size)];
    if (id === undefined) {
      courses.everything(play, visitor, account);
      return;
    }
    const [foreignId = play.random.uuid()] = resting.find((other) => other !== account)?.seen ?? [];
    const reads = read(visitor, [
      { id },
      { id, accountId },
      { id: foreignId, accountId, mayBeRefused: true },
      { id: play.random.uuid(), mayBeRefused: true },
    ]);
    matches("notifications.filter-id", reads[0], 1);
    matches("notifications.filters-combine", reads[1], 1);
    matches("notifications.filters-combine", reads[2], 0);
    matches("notifications.filter-id", reads[3], 0);
  },

  walk: (play, visitor, account) => {
    const { accountId } = account;
    const limit = Math.ceil(account.begun / pagesOfWalk);
    const asked = Array.from({ length: pagesOfWalk }, (_, page) => ({ accountId, limit, page }));
    const reads =
      play.random.below(2) === 0
        ? read(visitor, asked, { account })
        : asked.flatMap((one) => read(visitor, [one], { account }));
    const pages = reads.flatMap(({ page }) => page ?? []);
    const exchanges = reads.map(({ exchange }) => exchange);
    const areSound = reads.every(({ isSound }) => isSound);
    if (areSound && pages.length === pagesOfWalk && pages.every(({ total }) => total === account.begun))
      report(judgeWalk(pages, account.begun), exchanges);
    const [past] = read(visitor, [{ accountId, limit, page: pagesOfWalk, mayBeRefused: true }], { account });
    if (past?.page !== undefined && past.isSound)
      report(judgePastTheEnd(past.page, account.seen), [past.exchange]);
  },

  everything: (_play, visitor, account) => {
    const limit = 7;
    for (const { page, exchange } of read(visitor, [{}, { limit }, { page: 1 }, { limit, page: 1 }]))
      if (page !== undefined) report(judgeWhole(page, account.seen.size), [exchange]);
  },
};

const pagesOfWalk = 3;

/** Where nothing can be written, what the first page shows is looked up. */
const readWhatIsThere = (visitor: Visitor): void => {
  const [first] = read(visitor, [{}]);
  const item = first?.page?.items[0];
  if (item === undefined) return;
  const [id, accountId] = [String(item["id"]), String(item["accountId"])];
  const reads = read(visitor, [{ id }, { id, accountId }, { accountId, limit: 5 }]);
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
