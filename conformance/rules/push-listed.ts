import type { HistoryVerdict, Rules } from "../checks/rule.ts";
import { describe, pageOf, ControlFailed } from "../world/exchange.ts";
import type { PushRun, SeenPush, PushCase } from "../judging/pushes/trace.ts";
import { NAMED, TOO_LONG, withoutPush } from "../judging/pushes/finding.ts";
import { bodyOf, isShortened } from "../judging/pushes/cases.ts";
import type { ExchangeRecord } from "../contract/record.ts";
import { duration } from "../contract/duration.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { changedFields, notificationBreach } from "../judging/laws/notification.ts";
import { allHold, fail, pass, inconclusive, shownBy, type CaseVerdict } from "../judging/case-verdict.ts";
import { mapLimited } from "../checks/map-limited.ts";
import { notedFrom } from "../world/noted.ts";
import { obtainTokens } from "../world/steps.ts";
import { findListed, LARGE_PAGE } from "../world/listing.ts";
import type { World } from "../world/world.ts";
import { pushRunOf } from "./push.ts";

const LOOKUPS_AT_A_TIME = 6;
/** Maximum number of pages read of the whole list. */
const MOST_PAGES = 60;

interface Pushed {
  readonly pushCase: PushCase;
  readonly first: SeenPush;
}

/**
 * push.listed: every pushed notification is looked up by id, by account and in the whole list; some were also looked up
 * while their pushes were under way.
 */
export const pushesAreListed = async (world: World, pushRun: PushRun): Promise<HistoryVerdict> => {
  const pushed = pushRun.pushCases.flatMap((pushCase) => {
    const [first] = pushCase.pushes;
    return first === undefined ? [] : [{ pushCase, first }];
  });
  if (pushed.length === 0) throw new ControlFailed("no push arrived", withoutPush("").settle);
  const { accessToken } = await obtainTokens(world);
  const looked = await mapLimited(pushed, LOOKUPS_AT_A_TIME, (one) => isListed(world, accessToken, one));
  // Only now, as the lookups have waited for an index that may lag behind, in its total too.
  const whole = await wholeList(world, accessToken);
  const judged = [...looked.map((one) => isAmongAll(one, whole)), ...wereListedSoon(pushRun)];
  const verdict = allHold(judged.map((one) => one.verdict));
  return {
    ...withPush(
      world,
      judged.find((one) => one.verdict === verdict),
      verdict,
    ),
    cases: judged.filter((one) => one.verdict.kind === "passed").length,
    ...(whole === undefined ? { facts: { wholeList: "longer than could be read" } } : {}),
  };
};

/** What one lookup shows, and the push that it is about. */
interface Looked {
  readonly verdict: CaseVerdict;
  readonly push?: SeenPush;
  /** The id under which it is listed, and the exchange that shows that. */
  readonly under?: { readonly id: string; readonly exchange: number };
  /** Exchanges of the push run that show it. */
  readonly earlier?: readonly ExchangeRecord[];
}

/** Shows a breach with its push, since the others have nothing to do with it. */
const withPush = (world: World, looked: Looked | undefined, verdict: CaseVerdict): CaseVerdict => {
  if (verdict.kind !== "failed" || looked?.push === undefined) return verdict;
  const noted = notedFrom(world);
  world.evidence.addExchanges(looked.earlier ?? []);
  world.evidence.addPushes([looked.push]);
  return shownBy([...(verdict.shownBy ?? []), ...noted()], verdict);
};

/** The lookups that the push run made while pushes were under way. */
const wereListedSoon = ({ listLooks, visibilityMs }: PushRun): readonly Looked[] =>
  listLooks.flatMap(({ missing, push, at }): Looked[] => {
    if (missing === undefined) return [{ verdict: pass }];
    const sinceMs = at.earliestMs - push.at.latestMs;
    if (sinceMs < visibilityMs) return [];
    const verdict = fail(
      `a pushed notification is listed within ${duration(visibilityMs)} (tolerances.visibilityMs)`,
      `a list request ${duration(sinceMs)} after the push got ${missing.said}`,
      [],
    );
    return [{ verdict, push, earlier: missing.exchanges }];
  });

const isListed = async (world: World, accessToken: string, { pushCase, first }: Pushed): Promise<Looked> => {
  const body = bodyOf(first);
  const id = body?.["id"];
  if (isShortened(first)) return { verdict: inconclusive(TOO_LONG.why, TOO_LONG.settle) };
  if (body === undefined || typeof id !== "string")
    return { verdict: inconclusive("the push names no id", NAMED) };
  return { ...(await judgeListed(world, accessToken, { body, id, ...pushCase })), push: first };
};

interface Named extends Pick<PushCase, "accountId"> {
  readonly body: Readonly<Record<string, unknown>>;
  readonly id: string;
}

const judgeListed = async (
  world: World,
  accessToken: string,
  { body, id, accountId }: Named,
): Promise<Looked> => {
  const byId = await findListed(world, accessToken, { id }, id);
  const shown = [byId.answer.exchange];
  const missing = (where: string, got: string, more: readonly number[] = []): Looked => ({
    verdict: fail(`a pushed notification is listed ${where}`, got, [...shown, ...more]),
  });
  if (byId.item === undefined)
    return missing("under its id", `a list request with its id got ${describe(byId.answer)}`);
  const byAccount = await findListed(world, accessToken, { accountId }, id);
  // If others write to the account, one page says nothing.
  if (byAccount.item === undefined && byAccount.isWhole)
    return missing(
      "under its account",
      `it is listed under its id, but a list request with its account got ${describe(byAccount.answer)}`,
      [byAccount.answer.exchange],
    );
  // Its status has changed since other rules read it, and is not among the pushed fields.
  const form = verdictOf(notificationBreach(byId.item), () => describe(byId.answer));
  if (form.kind === "failed") return { verdict: shownBy(shown, form) };
  const differing = changedFields(body, byId.item);
  if (differing.length === 0) return { verdict: pass, under: { id, exchange: byId.answer.exchange } };
  const verdict = fail(
    "a pushed notification is listed with the same fields",
    `${differing.join(", ")} of a notification of account ${accountId} differ${differing.length === 1 ? "s" : ""} between push and list`,
    shown,
  );
  return { verdict };
};

/** The same, unless what is listed under its id is missing from the whole list. */
const isAmongAll = (looked: Looked, whole: Whole | undefined): Looked => {
  const { under } = looked;
  if (under === undefined || whole === undefined || whole.ids.has(under.id.toLowerCase())) return looked;
  const verdict = fail(
    "a pushed notification is listed among all others",
    "it is listed under its id, but on no page of a list request without a filter",
    [under.exchange, ...whole.exchanges],
  );
  return { ...looked, verdict };
};

/** All that is listed without a filter: the ids in lower case, and the numbers of the exchanges of the last walk. */
interface Whole {
  readonly ids: ReadonlySet<string>;
  readonly exchanges: readonly number[];
}

/**
 * Everything listed without a filter; undefined if there is more than can be read or if pages
 * do not add up to their total, so that what is missing is unknown. Reads twice, because others may be writing; an id
 * in either walk counts as listed.
 */
const wholeList = async (world: World, accessToken: string): Promise<Whole | undefined> => {
  const ids = new Set<string>();
  if (!(await walkOnce(world, accessToken, ids))) return undefined;
  const noted = notedFrom(world);
  return (await walkOnce(world, accessToken, ids)) ? { ids, exchanges: noted() } : undefined;
};

const walkOnce = async (world: World, accessToken: string, ids: Set<string>): Promise<boolean> => {
  const { defaultPage } = world.limits;
  let total: unknown;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { limit: String(LARGE_PAGE), page: String(defaultPage + page) };
    const read = pageOf(await world.target.list({ accessToken, query }));
    total ??= read?.total;
    // A page past the end may be refused instead of empty.
    if (read === undefined || read.items.length === 0) return page > 0 && Number(total) <= ids.size;
    for (const { id } of read.items) if (typeof id === "string") ids.add(id.toLowerCase());
  }
  return false;
};

/** Sections 4.4 and 4.5: the one push rule that asks the service. */
export const pushListed = {
  "push.listed": {
    pushes: { needsNoRetry: true },
    check: (_world, run) => run.once((world) => pushesAreListed(world, pushRunOf(world)), { replays: 0 }),
  },
} satisfies Rules;
