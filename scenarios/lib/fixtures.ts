import { sleep } from "k6";
import type { ScriptClient } from "../protocol.ts";
import { epochMs } from "./clock.ts";
import { beginEvent, endEvent, hasEvents } from "./events.ts";
import { isSettled, newAccount, noteSeen, type Account } from "./oracles/account.ts";
import { pageOf } from "./oracles/pages.ts";
import { accountsAreOwn, requests, type IterationContext } from "./iteration.ts";
import { send, sendTogether } from "./send.ts";
import { settings } from "./settings.ts";
import { logIn, type Session } from "./session.ts";

/*
 * Accounts that are filled before the load begins and never written to again. Virtual users share no
 * memory, but what k6's set-up returns they all get: so all of them know exactly what is in these.
 */

/** What the set-up hands to the virtual users. */
export interface Fixtures {
  /** One login for each client; virtual users log in themselves once its token nears its end. */
  readonly sessions: readonly (Session | undefined)[];
  readonly accounts: readonly {
    readonly client: number;
    readonly accountId: string;
    readonly begun: number;
    readonly acknowledgedAtMs: readonly number[];
    readonly seen: readonly string[];
  }[];
}

const { defaultLimit } = settings.limits;
/** Two pages and a bit, and one page and a bit: defaults, limits and walks can be told from their neighbours. */
const sizes = [2 * defaultLimit + 4, defaultLimit + 3];

export const createFixtures = (context: IterationContext): Fixtures => {
  const sessions = settings.clients.map((client) => logIn(context, client));
  const canFill = hasEvents && accountsAreOwn && !settings.preflight;
  const accounts = sessions.flatMap((session, client) =>
    session === undefined || !canFill
      ? []
      : sizes
          .map((size) => filled(context, session, size))
          .filter(({ doubtful }) => !doubtful)
          .map((account) => ({ ...account, client, seen: [...account.seen] })),
  );
  return { sessions, accounts };
};

const TOGETHER = 6;

const filled = (context: IterationContext, session: Session, size: number): Account => {
  const account = newAccount(context.freshAccount());
  while (account.begun < size) {
    const sentAtMs = epochMs();
    const begun = Array.from({ length: Math.min(TOGETHER, size - account.begun) }, () =>
      beginEvent(session.client, account),
    );
    for (const answer of sendTogether(begun)) endEvent(account, sentAtMs, answer);
  }
  readAll(session, account);
  return account;
};

/**
 * Reads the account's pages until all of it has been seen, but not for long: where notifications take
 * their time to be listed, virtual users judge by what must be there by then, and see the rest themselves.
 */
const readAll = (session: Session, account: Account): void => {
  for (const pauseS of [0, 0.05, 0.1, 0.2, 0.4]) {
    sleep(pauseS);
    for (let page = 0; page * defaultLimit < account.begun; page += 1) {
      const answer = send(requests.list(session.accessToken, { accountId: account.accountId, page }, true));
      const seen = pageOf(answer);
      if (seen !== undefined) noteSeen(account, seen);
    }
    if (isSettled(account) || account.doubtful) return;
  }
};

export const accountsOf = (fixtures: Fixtures, client: ScriptClient): readonly Account[] =>
  fixtures.accounts
    .filter((kept) => settings.clients[kept.client]?.id === client.id)
    .map(({ accountId, begun, acknowledgedAtMs, seen }) => ({
      ...newAccount(accountId),
      begun,
      acknowledgedAtMs: [...acknowledgedAtMs],
      seen: new Set(seen),
    }));
