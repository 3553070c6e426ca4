import { describe, expect, it } from "vitest";
import { onTerminal } from "../testing/shown.ts";
import { ledgerDoc, type LedgerRow } from "./ledger.ts";

const row = (over: Partial<LedgerRow> = {}): LedgerRow => ({
  rule: "code.lifetime",
  subject: "code",
  side: "dead",
  target: "https://staging.example client-1",
  state: "waiting",
  lifetimeMs: 600_000,
  issuedAt: "2030-01-01T03:00:00.000Z",
  dueFrom: "2030-01-01T03:10:01.500Z",
  dueUntil: "2030-01-15T03:10:00.000Z",
  ...over,
});

const render = (rows: readonly LedgerRow[]): string => onTerminal(ledgerDoc("ledger.db", rows), 140);

describe("the list of a ledger's entries", () => {
  it("gives due times to the minute, or to the second for short windows", () => {
    const alive = {
      side: "alive",
      dueFrom: "2030-01-01T03:09:28.500Z",
      dueUntil: "2030-01-01T03:09:58.500Z",
    } as const;
    const text = render([row(), row(alive)]);
    expect(text).toContain("Due (2)");
    expect(text).toMatch(
      /2030-01-01 03:10 to 2030-01-15 03:10 +code\.lifetime +code +is refused after 10 min/,
    );
    expect(text).toMatch(
      /2030-01-01 03:09:28 to 2030-01-01 03:09:58 +code\.lifetime +code +still works before 10 min/,
    );
  });

  it("groups equal entries of daily runs, with their number and the latest", () => {
    const days = Array.from({ length: 9 }, (_, day) => `2030-01-0${day + 1}T03:00:00.000Z`);
    const missed = { state: "missed", side: "alive", note: "no run happened while it was due" } as const;
    const text = render([
      ...days.map((issuedAt) => row({ ...missed, issuedAt })),
      row({ ...missed, note: "a run probed it, but ended before it recorded the answer" }),
      ...days.map((issuedAt, day) =>
        row({ state: "judged", held: true, issuedAt, note: `refused after ${day}` }),
      ),
      row({ state: "judged", held: false, note: "accepted" }),
    ]);
    expect(text).toContain("Expired unjudged (10)");
    expect(text).toMatch(
      /\? code\.lifetime {2}code {2}before its end, 9 times, the last one issued 2030-01-09 03:00/,
    );
    expect(text).toContain("a run probed it, but ended before it recorded the answer");
    expect(text).toContain("Judged (10)");
    expect(text).toMatch(
      /✓ .*after its end, 9 times, the last one issued 2030-01-09 03:00\n +refused after 8/,
    );
    expect(text).not.toContain("refused after 7");
    expect(text).toMatch(/✗ code\.lifetime {2}code {2}after its end issued 2030-01-01 03:00\n +accepted/);
  });
});
