import type { ExchangeRecord } from "../../contract/record.ts";
import { expect, it } from "vitest";
import { createJournal, newScope } from "./journal.ts";
import { createSecrets } from "../../contract/secrets.ts";

const secret = "abcdefgh.ijklmnop.qrstuvwx";

const journalOf = () => {
  const secrets = createSecrets();
  secrets.conceal(secret, "access token");
  const written: ExchangeRecord[] = [];
  return { journal: createJournal(secrets, { write: (record) => written.push(record) }), written };
};

const exchange = (text: string): Omit<ExchangeRecord, "rule"> => ({
  n: 1,
  startedMs: 0,
  durationMs: 1,
  request: {
    method: "GET",
    path: `/x?t=${secret}`,
    headers: [["x-token", secret]],
    body: `{"t":"${secret}"}`,
  },
  answer: { status: 200, headers: [["location", `https://x/#t=${secret}`]], text },
});

it("masks credentials in every part of an exchange, and writes what it keeps", () => {
  const { journal, written } = journalOf();
  const scope = newScope("code.single-use");
  journal.add(scope, exchange(`{"accessToken":"${secret}"}`));
  expect(JSON.stringify(written)).not.toContain("ijklmnop");
  expect(written).toEqual(scope.exchanges);
  expect(written[0]).toMatchObject({
    rule: "code.single-use",
    request: { path: "/x?t=‹access token 1›", headers: [["x-token", "‹access token 1›"]] },
    answer: { headers: [["location", "https://x/#t=‹access token 1›"]] },
  });
});

it("shows no part of a credential at the end of a shortened text", () => {
  for (let before = 8_150; before < 8_200; before += 1) {
    const { journal, written } = journalOf();
    journal.add(newScope("x"), exchange(`${" ".repeat(before)}${secret} and more`));
    const text = written[0]?.answer?.text ?? "";
    expect(text).not.toMatch(/abcd|ijkl|qrst/);
    expect(text.length).toBeLessThan(8_300);
  }
});

it("numbers exchanges from one, and states the full length of a shortened text", () => {
  const { journal, written } = journalOf();
  expect([journal.nextNumber(), journal.nextNumber()]).toEqual([1, 2]);
  journal.add(newScope("x"), exchange(".".repeat(10_000)));
  expect(written[0]?.answer?.text).toMatch(/… \(10000 characters in all\)$/);
});

it.each([["with a sink", true] as const, ["without one", false] as const])(
  "keeps the target's time at which a request was sent, %s",
  (_, isWritten) => {
    const told = { ms: 600_000 as number | undefined };
    const journal = createJournal(
      createSecrets(),
      isWritten ? { write: () => undefined } : undefined,
      () => told.ms,
    );
    const scope = newScope("x");
    const { request } = exchange("");
    const early = journal.begin(scope);
    told.ms = 1_200_500;
    early.end(request, { error: "closed" });
    told.ms = undefined;
    journal.begin(scope).end(request, { error: "closed" });
    expect(scope.exchanges.map(({ clockMs }) => clockMs)).toEqual([600_000, undefined]);
    expect(Object.keys(scope.exchanges[1] ?? {})).not.toContain("clockMs");
  },
);
