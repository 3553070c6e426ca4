import { sleep } from "k6";
import exec from "k6/execution";
import { epochMs } from "./lib/clock.ts";
import { hasEvents } from "./lib/events.ts";
import { drawKind, drawThinkTimeMs, eventShare, sessionKinds, sessionRequests } from "./lib/mix.ts";
import { optionsFor, setupTimeout } from "./lib/options.ts";
import { newAccount, type Account } from "./lib/oracles/account.ts";
import { judgeRefresh, refreshedOf } from "./lib/oracles/tokens.ts";
import { iterate, playOfSetUp, requests, type Play } from "./lib/play.ts";
import { preflightLists } from "./lib/preflight.ts";
import { read, trigger, type Asked } from "./lib/reading.ts";
import { flushLooks, issued, report } from "./lib/report.ts";
import { send, sendForSetUp } from "./lib/send.ts";
import { settings } from "./lib/settings.ts";
import { isNearItsEnd, logIn, logInTogether, takeRefreshed, type Visitor } from "./lib/visitor.ts";

/*
 * The life of many clients. An iteration is one session: it begins with an authorization, with a
 * refresh of the tokens kept from the session before, or with those as they are; then it polls the
 * list, with pauses to think, and now and then something happens to its account.
 */

export const options = { ...optionsFor(settings), setupTimeout };
export const preflight = (): void => iterate(preflightLists);

/** Most virtual users are customers of some time, who logged in before the load begins. */
export const setup = (): readonly Visitor[] => {
  sendForSetUp();
  const play = playOfSetUp();
  const wanted = settings.preflight ? 0 : Math.min(settings.virtualUsers.allocated, mostAtStart);
  const visitors: Visitor[] = [];
  for (let asked = 0; asked < wanted; asked += together) visitors.push(...logInTogether(play, together));
  flushLooks();
  return visitors;
};
const mostAtStart = 300;
const together = 6;

/** Who a virtual user is, from one session to the next. */
interface Customer {
  readonly visitor: Visitor;
  readonly account: Account;
}
let customer: Customer | undefined;

/** An account of more than two pages is old: its owner goes, and another customer comes. */
const fullSize = 2 * settings.limits.defaultLimit + 4;

export default (visitors: readonly Visitor[]): void =>
  iterate((play) => {
    const { least, most } = sessionRequests;
    const budget = least + play.random.below(most - least + 1);
    if (exec.vu.iterationInScenario === 0) customer = customerAtStart(play, visitors);
    const session = beginSession(play, customer);
    customer = session.customer;
    if (customer === undefined) return;
    let left = budget - session.requests;
    while (left > 0) {
      sleep(drawThinkTimeMs(play.random) / 1_000);
      left -= act(play, customer, left);
    }
  });

/** The customer of some time who this virtual user is; those that came later are nobody yet. */
const customerAtStart = (play: Play, visitors: readonly Visitor[]): Customer | undefined => {
  const visitor = visitors[exec.vu.idInTest - 1];
  return visitor === undefined
    ? undefined
    : { visitor: { ...visitor }, account: newAccount(play.freshAccount()) };
};

/** A customer with a live token, and how many requests it took to have one. */
const beginSession = (
  play: Play,
  earlier: Customer | undefined,
): { readonly customer: Customer | undefined; readonly requests: number } => {
  const drawn = drawKind(sessionKinds, play.random);
  if (earlier === undefined || drawn === "authorize")
    return { customer: authorize(play, earlier), requests: 2 };
  if (drawn === "resume" && !isNearItsEnd(earlier.visitor)) return { customer: earlier, requests: 0 };
  return { customer: refresh(earlier.visitor) ? earlier : undefined, requests: 1 };
};

const authorize = (play: Play, earlier: Customer | undefined): Customer | undefined => {
  const stays = earlier !== undefined && earlier.account.begun < fullSize && !earlier.account.doubtful;
  const visitor = logIn(play, stays ? earlier.visitor.client : undefined);
  if (visitor === undefined) return undefined;
  return { visitor, account: stays ? earlier.account : newAccount(play.freshAccount()) };
};

/** Whether the refresh brought a token. Where it did not, the customer has to authorize again (section 5.3). */
const refresh = (visitor: Visitor): boolean => {
  const askedAtMs = epochMs();
  const answer = send(requests.refresh(visitor.client, visitor.refreshToken));
  report(judgeRefresh(answer), [answer]);
  const tokens = refreshedOf(answer);
  if (tokens === undefined) return false;
  // The document leaves open whether a refresh may return the token that is still alive.
  if (tokens.accessToken !== visitor.accessToken) issued("accessToken", tokens.accessToken);
  takeRefreshed(visitor, askedAtMs, tokens);
  return true;
};

/** One thing that a customer does, and how many requests it took. */
const act = (play: Play, { visitor, account }: Customer, left: number): number => {
  const happens = hasEvents && left > 1 && account.begun < fullSize && play.random.next() < eventShare;
  if (happens) trigger(visitor.client, account, 1);
  // The first use of a token has to be a read that nothing but the token can fail.
  read(visitor, [visitor.fresh === undefined ? pollOf(play, account) : {}], { account });
  return happens ? 2 : 1;
};

/** Mostly the first page, at times another page size, at times one notification by its id. */
const pollOf = ({ random }: Play, { accountId, seen }: Account): Asked => {
  if (!hasEvents) return random.below(4) === 0 ? { limit: 5 } : {};
  const drawn = random.next();
  const [id] = seen;
  if (id !== undefined && drawn < 0.15) return { id };
  if (drawn < 0.3) return { accountId, limit: 5, page: random.below(2), mayBeRefused: true };
  return { accountId, mayBeRefused: seen.size === 0 };
};
