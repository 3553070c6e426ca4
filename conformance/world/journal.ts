import type { ExchangeRecord } from "../contract/record.ts";
import { shorten } from "../text.ts";
import type { Answer } from "./exchange.ts";
import { hideSecretFields } from "./secret-fields.ts";
import type { Secrets } from "./secrets.ts";

export type { ExchangeRecord };

/** Where exchanges go. `write` must not throw and must not wait. */
export interface JournalSink {
  write(record: ExchangeRecord): void;
}

/** Exchanges of one case of one rule, kept until the case is judged. */
export interface Scope {
  readonly rule: string;
  readonly exchanges: ExchangeRecord[];
}

export const newScope = (rule: string): Scope => ({ rule, exchanges: [] });

const KEPT_CHARACTERS = 8_192;

const cut = (text: string): string =>
  text.length <= KEPT_CHARACTERS
    ? text
    : `${shorten(text, KEPT_CHARACTERS)} (${text.length} characters in all)`;

export interface Journal {
  nextNumber(): number;
  add(scope: Scope, record: Omit<ExchangeRecord, "rule">): void;
}

export const createJournal = (secrets: Secrets, sink?: JournalSink): Journal => {
  let last = 0;
  const maskHeaders = (headers: Answer["headers"]): Answer["headers"] =>
    headers.map(([name, value]) => [name, secrets.mask(cut(value))]);
  return {
    nextNumber: () => (last += 1),
    add: (scope, raw) => {
      const record: ExchangeRecord = {
        ...raw,
        rule: scope.rule,
        request: {
          method: raw.request.method,
          path: secrets.mask(cut(raw.request.path)),
          headers: maskHeaders(raw.request.headers),
          ...(raw.request.body === undefined
            ? {}
            : { body: hideSecretFields(secrets.mask(cut(raw.request.body))) }),
        },
        ...(raw.answer === undefined
          ? {}
          : {
              answer: {
                status: raw.answer.status,
                headers: maskHeaders(raw.answer.headers),
                text: secrets.mask(cut(raw.answer.text)),
              },
            }),
      };
      scope.exchanges.push(record);
      sink?.write(record);
    },
  };
};
