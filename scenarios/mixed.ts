import { epochMs } from "./lib/clock.ts";
import exec from "k6/execution";
import { sleep } from "k6";
import { hasEvents, read, trigger, type Asked } from "./lib/reading.ts";
import { drawKind, drawThinkTimeMs, eventShare, visitKinds, visitRequests, weighed } from "./lib/mix.ts";
import { newAccount, type Account } from "./lib/oracles/account.ts";
import { judgeRefresh, refreshedOf } from "./lib/oracles/tokens.ts";
import { requests, type IterationContext, scenario } from "./lib/iteration.ts";
import { preflightLists } from "./lib/preflight.ts";
import { issued, report } from "./lib/report.ts";
import { send } from "./lib/send.ts";
import { settings } from "./lib/settings.ts";
import { mayHaveEnded } from "./lib/issue.ts";
import {
  canRefresh,
  isNearItsEnd,
  logIn,
  logInTogether,
  needsRefresh,
  takeRefreshed,
  type Session,
} from "./lib/session.ts";

/*
 * The life of many clients. An iteration is one visit: it starts with an authorization, a refresh of the tokens of the
 * previous visit, or those tokens as they are; then it polls the list, with think time, and occasionally an event
 * occurs for its account.
 */

const mostAtStart = 300;
const together = 6;

/** Most virtual users start as customers who logged in before the load. Each segment logs in its own customers. */
const logInCustomers = (context: IterationContext, isTimeUp: () => boolean): readonly Session[] => {
  const ownUsers = settings.virtualUsers.allocated / (settings.segment?.count ?? 1);
  const wanted = settings.preflight ? 0 : Math.min(ownUsers, mostAtStart);
  const sessions: Session[] = [];
  for (let asked = 0; asked < wanted && !isTimeUp(); asked += together)
    sessions.push(...logInTogether(context, together));
  return sessions;
};

interface Customer {
  readonly session: Session;
  readonly account: Account;
}
let customer: Customer | undefined;

/** Once an account exceeds two pages, its owner leaves and another customer comes. */
const fullSize = 2 * settings.limits.defaultLimit + 4;

const visit = (context: IterationContext, sessions: readonly Session[]): void => {
  const { least, most } = visitRequests;
  const budget = least + context.random.below(most - least + 1);
  if (exec.vu.iterationInScenario === 0) customer = customerAtStart(context, sessions);
  const begun = beginVisit(context, customer);
  customer = begun.customer;
  if (customer === undefined) return;
  let left = budget - begun.requests;
  while (left > 0) {
    sleep(drawThinkTimeMs(context.random) / 1_000);
    if (needsRefresh(customer.session)) {
      const renewed = renew(context, customer);
      left -= renewed.requests;
      customer = renewed.customer;
      if (customer === undefined) return;
    }
    left -= act(context, customer, left);
  }
};

/** The logged-in customer this virtual user starts as; users added later start with a login. */
const customerAtStart = (context: IterationContext, sessions: readonly Session[]): Customer | undefined => {
  const session = sessions[exec.vu.idInInstance - 1];
  return session === undefined
    ? undefined
    : { session: { ...session }, account: newAccount(context.freshAccount()) };
};

const visits = weighed(visitKinds, settings.visitWeights);

/** A customer with a live token, and how many requests that took. */
const beginVisit = (
  context: IterationContext,
  earlier: Customer | undefined,
): { readonly customer: Customer | undefined; readonly requests: number } => {
  const drawn = drawKind(visits, context.random);
  if (earlier === undefined || drawn === "authorize")
    return { customer: authorize(context, earlier), requests: 2 };
  if (drawn === "resume" && !isNearItsEnd(earlier.session)) return { customer: earlier, requests: 0 };
  return renew(context, earlier);
};

/** Once the refresh token ends, the customer must authorize again (section 5.3). */
const renew = (
  context: IterationContext,
  earlier: Customer,
): { readonly customer: Customer | undefined; readonly requests: number } =>
  canRefresh(earlier.session)
    ? { customer: refresh(earlier.session) ? earlier : undefined, requests: 1 }
    : { customer: authorize(context, earlier), requests: 2 };

const authorize = (context: IterationContext, earlier: Customer | undefined): Customer | undefined => {
  const stays = earlier !== undefined && earlier.account.begun < fullSize && !earlier.account.doubtful;
  const session = logIn(context, stays ? earlier.session.client : undefined);
  if (session === undefined) return undefined;
  return { session, account: stays ? earlier.account : newAccount(context.freshAccount()) };
};

/** Whether the refresh brought a token. If not, the customer must authorize again (section 5.3). */
const refresh = (session: Session): boolean => {
  const askedAtMs = epochMs();
  const answer = send(requests.refresh(session.client, session.refreshToken));
  report(judgeRefresh(answer, mayHaveEnded(session.refresh, epochMs())), [answer]);
  const tokens = refreshedOf(answer);
  if (tokens === undefined) return false;
  // The document does not say whether a refresh may return the live token.
  if (tokens.accessToken !== session.accessToken) issued("accessToken", tokens.accessToken);
  takeRefreshed(session, askedAtMs, tokens);
  return true;
};

/** One action of a customer, and how many requests it took. */
const act = (context: IterationContext, { session, account }: Customer, left: number): number => {
  const happens = hasEvents && left > 1 && account.begun < fullSize && context.random.next() < eventShare;
  if (happens) trigger(session.client, account);
  // The first use of a token must be a read that only the token can make fail.
  read(session, [session.fresh === undefined ? pollOf(context, account) : {}], { account });
  return happens ? 2 : 1;
};

/** Usually the first page, sometimes another page size, sometimes one notification by id. */
const pollOf = ({ random }: IterationContext, { accountId, seen }: Account): Asked => {
  if (!hasEvents) return random.below(4) === 0 ? { limit: 5 } : {};
  const drawn = random.next();
  const [id] = seen.keys();
  if (id !== undefined && drawn < 0.15) return { id };
  if (drawn < 0.3) return { accountId, limit: 5, page: random.below(2) };
  return { accountId };
};

export const mixed = scenario({ setUp: logInCustomers, preflight: preflightLists, iteration: visit });
