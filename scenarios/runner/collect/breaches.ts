import type { LoadBreach, LoadRule } from "../../../conformance/contract/load-record.ts";
import { askedRateAt, type Stage } from "../../stages.ts";
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
      method: exchange.method,
      path: shown(exchange.path),
      ...(exchange.requestBody === undefined ? {} : { requestBody: shown(exchange.requestBody) }),
      status: exchange.status,
      answer: shown(exchange.answer),
      durationMs: exchange.durationMs,
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
