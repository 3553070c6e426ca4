import { issuedKinds, labelsOf } from "../contract/secrets.ts";
import type { ExchangeRecord } from "../world/evidence/journal.ts";

/** A credential as the record shows it, whether it was sent as it is, changed, or encoded. */
const label = labelsOf(issuedKinds);

const labelsIn = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => [...text.matchAll(label)].map(([, , name = ""]) => name)));

const written = (headers: readonly (readonly [string, string])[]): readonly string[] =>
  headers.map(([, value]) => value);

const sentIn = ({ request }: ExchangeRecord): ReadonlySet<string> =>
  labelsIn([request.path, ...written(request.headers), request.body ?? ""]);

const gotIn = ({ answer }: ExchangeRecord): ReadonlySet<string> =>
  answer === undefined ? new Set() : labelsIn([...written(answer.headers), answer.text]);

/**
 * The shortest history that shows a breach: the exchanges that decide it, and before them those from which their
 * credentials came, and theirs in turn.
 */
export const proofOf = (
  exchanges: readonly ExchangeRecord[],
  deciding: readonly number[],
): readonly ExchangeRecord[] => {
  const issuers = new Map<string, ExchangeRecord>();
  for (const exchange of exchanges)
    for (const name of gotIn(exchange)) if (!issuers.has(name)) issuers.set(name, exchange);
  const proof = new Set<ExchangeRecord>();
  const add = (exchange: ExchangeRecord): void => {
    if (proof.has(exchange)) return;
    proof.add(exchange);
    for (const name of sentIn(exchange)) {
      const issuer = issuers.get(name);
      if (issuer !== undefined && issuer.n < exchange.n) add(issuer);
    }
  };
  const decides = new Set(deciding);
  for (const exchange of exchanges) if (decides.has(exchange.n)) add(exchange);
  return exchanges.filter((exchange) => proof.has(exchange));
};
