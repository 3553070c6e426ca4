import type { Action } from "./shared/context.ts";
import { given } from "../conformance/contract/given.ts";
import { ledgerKeyFrom, listLedger } from "../conformance/lifetimes/store/open.ts";
import { dueWindow } from "../conformance/judging/lifetimes/entries.ts";
import { ledgerDoc } from "../reports/document/ledger.ts";
import type { ledger as definition } from "./flags/gate.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async ({ output, environment }, file, { ledgerKeyFile }) => {
  const at = (ms: number): string => new Date(ms).toISOString();
  const rows = listLedger(file, () => ledgerKeyFrom("", ledgerKeyFile, environment)).map((entry) => {
    const due = dueWindow(entry);
    const { rule, subject, side, target, state, lifetimeMs, held, note } = entry;
    return {
      rule,
      subject,
      side,
      target,
      state,
      lifetimeMs,
      issuedAt: at(entry.issued.earliestMs),
      dueFrom: at(due.earliestMs),
      dueUntil: at(due.latestMs),
      ...given({ held, note }),
    };
  });
  show(output, ledgerDoc(file, rows), rows);
};
