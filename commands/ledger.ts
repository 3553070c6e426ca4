import type { Action } from "./shared/context.ts";
import { given } from "../conformance/contract/given.ts";
import { ledgerKeyFrom, listLedger } from "../conformance/lifetimes/ledger-file.ts";
import { heldBy } from "../conformance/judging/lifetimes/entries.ts";
import { ledgerDoc } from "../reports/document/ledger.ts";
import type { ledger as definition } from "./flags/gate.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async ({ output, environment }, file, { ledgerKeyFile }) => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const rows = listLedger(file, () => ledgerKeyFrom("", ledgerKeyFile, environment)).map((entry) => {
    const { rule, subject, step, target, state, life, due, note } = entry;
    return {
      rule,
      subject,
      side: step.at.side,
      target,
      state,
      lifetimeMs: life.lifetimeMs,
      issuedAt: at(life.issued.earliestMs),
      dueFrom: at(due.earliestMs),
      dueUntil: at(due.latestMs),
      ...given({ held: heldBy(entry), note }),
    };
  });
  show(output, ledgerDoc(file, rows), rows);
};
