import { inGroups, inTurn } from "../contract/text.ts";
import { brokenBy, discard, fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { Judge, ListOptions, Run } from "../checks/rule.ts";
import { describe, type Answer } from "../world/exchange.ts";
import { notedFrom } from "../world/noted.ts";
import { yielded } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { alsoWithCookies } from "./shared/usual.ts";

/**
 * Requests that must be refused, as tables: whether they are is told by what they gain, since error statuses and bodies
 * are not shown (section 7). A row says what is wrong; what is right beside it must be granted.
 */

/** One row: what is sent in place of what is right. */
export interface Wrong<Right, Sent = unknown> {
  readonly name: string;
  /** Undefined if it would be right after all. */
  readonly of: (right: Right, world: World) => Sent | undefined | Promise<Sent | undefined>;
}

/** Gained by a request that the service did not see as it was meant. */
export const untested = Symbol("untested");

/** The table's head: how the rows of one promise are sent and judged. */
export interface Refusal<Right, Sent> {
  readonly expected: string;
  /** What is right, obtained anew for each case. Throws ControlFailed if nothing is granted. */
  readonly right: (world: World) => Promise<Right>;
  /** What a wrong request gained, in words; undefined if it was refused. */
  readonly gain: (
    world: World,
    right: Right,
    sent: Sent,
    name: string,
  ) => Promise<string | typeof untested | undefined>;
  /**
   * What is right must be granted afterwards, whether in itself or as a twin; `names` are the requests before it. Absent
   * if `right` shows that, and refusals use nothing up.
   */
  readonly control?: (world: World, right: Right, names: string) => Promise<CaseVerdict | void>;
}

export const namesOf = (rows: readonly { readonly name: string }[]): string =>
  rows.map(({ name }) => name).join("; ");

/** Sends each row's request in turn, up to the first that gains something; then the control. */
export const refusedOnce =
  <Right, Sent>({
    expected,
    right: obtain,
    gain,
    control,
  }: Refusal<Right, Sent>): Judge<readonly Wrong<Right, Sent>[]> =>
  async (rows, world) => {
    const noted = notedFrom(world);
    const right = await obtain(world);
    const tested: Wrong<Right, Sent>[] = [];
    for (const row of rows) {
      const sent = await row.of(right, world);
      if (sent === undefined) continue;
      const gained = await gain(world, right, sent, row.name);
      if (gained === untested) continue;
      if (gained !== undefined) return brokenBy(row.name, fail(expected, `${row.name}: ${gained}`, noted()));
      tested.push(row);
    }
    if (tested.length === 0) return discard("nothing that is wrong could be sent");
    const verdict = (await control?.(world, right, namesOf(tested))) ?? pass;
    return brokenBy(inTurn(namesOf(tested), tested), verdict);
  };

/** The same once more with the cookies that were set, if any. */
export const refused = <Right, Sent>(refusal: Refusal<Right, Sent>): Judge<readonly Wrong<Right, Sent>[]> =>
  alsoWithCookies(refusedOnce(refusal));

/** Judges rows, so many of them in a case; each is tried alone if one of them is granted. */
export const areRefused = <Right, Sent>(
  run: Run,
  refusal: Refusal<Right, Sent>,
  rows: readonly Wrong<Right, Sent>[],
  { size = 1, ...options }: ListOptions<readonly Wrong<Right, Sent>[]> & { readonly size?: number } = {},
): Promise<Verdict> =>
  run.forEach(inGroups(rows, size), refused(refusal), {
    print: namesOf,
    narrower: (group) => (group.length === 1 ? [] : inGroups(group, 1)),
    ...options,
  });

/** What an answer that should be a refusal yielded to any of these clients, in words. */
export const gainIn = async (
  world: World,
  answer: Answer | undefined,
  clients: readonly Client[],
): Promise<string | undefined> => {
  for (const client of clients) {
    const gain = await yielded(world, answer, client);
    if (gain !== undefined && answer !== undefined)
      return `it yielded a working ${gain}, ${describe(answer)}`;
  }
  return undefined;
};
