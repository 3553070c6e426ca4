import type { LoadBreach, LoadRule } from "../../../conformance/contract/load-record.ts";
import type { Stage } from "../../protocol.ts";
import { askedRateAt } from "../../stages.ts";
import { createSecrets } from "../../../conformance/contract/secrets.ts";
import type { ScriptMessage } from "../../protocol.ts";
import { cut } from "../../../conformance/contract/text.ts";

export type BreachMessage = Extract<ScriptMessage, { kind: "breach" }>;

export type Breaches = ReturnType<typeof createBreaches>;

/** How many breaches of each rule breaches.jsonl has. */
export const KEPT_PER_RULE = 20;
const LONGEST_TEXT = 2_000;
const MOST_EXCHANGES = 10;

/**
 * The breaches of a run: the first ones of each rule with their proof, and the total number. `clientSecrets` are masked
 * wherever they occur; for other credentials, each proof lists its own.
 */
export const createBreaches = (stages: readonly Stage[], clientSecrets: readonly string[]) => {
  const kept = new Map<string, LoadBreach[]>();
  const rules = new Map<string, { checks: number; breaches: number; note?: string }>();
  const ruleOf = (id: string) => {
    const found = rules.get(id) ?? { checks: 0, breaches: 0 };
    rules.set(id, found);
    return found;
  };
  return {
    /** Adds a proof. Returns the breach in writable form if it is one of those kept. */
    proof: (message: BreachMessage, atMs: number): LoadBreach | undefined => {
      const of = kept.get(message.rule) ?? [];
      if (of.length >= KEPT_PER_RULE) return undefined;
      const breach = maskedBreach(message, clientSecrets, { atMs, askedRate: askedRateAt(stages, atMs) });
      kept.set(message.rule, [...of, breach]);
      return breach;
    },
    count: (rule: string): void => {
      ruleOf(rule).breaches += 1;
    },
    checked: (rule: string, count: number): void => {
      ruleOf(rule).checks += count;
    },
    note: (rule: string, text: string): void => {
      ruleOf(rule).note = text;
    },
    kept: () => [...kept.values()].flat().toSorted((a, b) => a.atMs - b.atMs),
    // A broken check counts as a check, even if the samples were cut off at the end of a run.
    rules: (): readonly LoadRule[] =>
      [...rules].map(([id, rule]) => ({ id, ...rule, checks: Math.max(rule.checks, rule.breaches) })),
  };
};

const maskedBreach = (
  { rule, expected, actual, exchanges, secrets }: BreachMessage,
  clientSecrets: readonly string[],
  moment: Pick<LoadBreach, "atMs" | "askedRate">,
): LoadBreach => {
  const mask = maskOf(clientSecrets, secrets);
  const shown = (text: string): string => cut(mask(text), LONGEST_TEXT);
  return {
    rule,
    ...moment,
    expected: shown(expected),
    actual: shown(actual),
    exchanges: exchanges.slice(0, MOST_EXCHANGES).map((exchange) => ({
      ...exchange,
      path: shown(exchange.path),
      ...(exchange.requestBody === undefined ? {} : { requestBody: shown(exchange.requestBody) }),
      answer: shown(exchange.answer),
    })),
  };
};

/**
 * Replaces credentials by labels, wherever their value appears: plain, URL-encoded, in JSON, in base64. Unknown values
 * are hidden in fields where the document puts a credential.
 */
export const maskOf = (
  clientSecrets: readonly string[],
  others: readonly string[],
): ((text: string) => string) => {
  const known = createSecrets();
  for (const value of clientSecrets) known.conceal(value, "client secret");
  for (const value of others) known.conceal(value, "credential");
  return (text) => hideFields(known.mask(text));
};

const inJson = /("(?:accessToken|refreshToken|code|clientSecret|secret)"\s*:\s*")((?:[^"\\]|\\.)*)/g;
const inQuery = /([?&](?:accessToken|refreshToken|code|clientSecret|secret)=)(‹[^›]*›|[^&#\s"]*)/g;

const hideFields = (text: string): string =>
  [inJson, inQuery].reduce(
    (hidden, field) =>
      hidden.replace(field, (whole, name: string, value: string) =>
        value === "" || /^‹[^›]*›$/.test(value) ? whole : `${name}‹another credential›`,
      ),
    text,
  );

/** The same credential issued twice. Moments are milliseconds since the start of the load. */
export interface Duplicate {
  readonly what: string;
  readonly atMs: number;
  readonly beforeMs: number;
}

export type Uniqueness = ReturnType<typeof createUniqueness>;

/** At twelve bytes each, a table takes 12.6 MB and holds 786,432 digests. */
const SLOTS = 2 ** 20;
const HIGHEST_LOAD = 0.75;
/** 150 MB: about 9 million digests, or two hours at 1,300 credentials per second. */
const MOST_TABLES = 12;

/**
 * Keeps the run's digests in memory, in tables that are filled one after another. At the maximum number of tables, the
 * oldest is dropped, and digests are compared only with the remaining ones.
 */
export const createUniqueness = (slots = SLOTS, mostTables = MOST_TABLES) => {
  const groups: string[] = [];
  /** Newest first. */
  const tables = [createTable(slots)];
  const full = Math.floor(slots * HIGHEST_LOAD);
  let isWindow = false;

  const tableWithRoom = (): Table => {
    const [newest] = tables;
    if (newest !== undefined && newest.count < full) return newest;
    if (tables.length === mostTables) {
      tables.pop();
      isWindow = true;
    }
    const added = createTable(slots);
    tables.unshift(added);
    return added;
  };

  return {
    /** Adds a digest of 16 hexadecimal digits; ignores anything else. Digests of different groups are not compared. */
    add: (group: string, what: string, digest: string, atMs: number): Duplicate | undefined => {
      if (!/^[0-9a-f]{16}$/.test(digest)) return undefined;
      const high = Number.parseInt(digest.slice(0, 8), 16);
      const low = Number.parseInt(digest.slice(8), 16);
      const known = groups.indexOf(group);
      const number = known === -1 ? groups.push(group) - 1 : known;
      const key = (low ^ number) >>> 0;
      for (const table of tables) {
        const beforeMs = table.find(high, key);
        if (beforeMs !== undefined) return { what, atMs, beforeMs };
      }
      tableWithRoom().add(high, key, atMs);
      return undefined;
    },
    /** How much of the run each credential was compared with, in words; undefined if all were compared with all. */
    note: (): string | undefined =>
      isWindow
        ? `each was compared with at least the ${full * (mostTables - 1)} issued before it`
        : undefined,
  };
};

type Table = ReturnType<typeof createTable>;

/** Open addressing with linear probing; digest bits are uniform, so they select the slot directly. */
const createTable = (slots: number) => {
  const highs = new Uint32Array(slots);
  const lows = new Uint32Array(slots);
  /** One more than the moment in milliseconds: 0 is an empty slot. */
  const moments = new Uint32Array(slots);
  const slotOf = (high: number, low: number): number => {
    let slot = low & (slots - 1);
    while (moments[slot] !== 0 && (lows[slot] !== low || highs[slot] !== high))
      slot = (slot + 1) & (slots - 1);
    return slot;
  };
  const table = {
    count: 0,
    find: (high: number, low: number): number | undefined => {
      const moment = moments[slotOf(high, low)] ?? 0;
      return moment === 0 ? undefined : moment - 1;
    },
    add: (high: number, low: number, atMs: number): void => {
      const slot = slotOf(high, low);
      highs[slot] = high;
      lows[slot] = low;
      moments[slot] = Math.min(0xffff_ffff, Math.max(0, Math.round(atMs)) + 1);
      table.count += 1;
    },
  };
  return table;
};
