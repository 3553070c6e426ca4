import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Plan } from "../../judging/lifetimes/entries.ts";
import { quickKey } from "../../testing/made.ts";
import { listLedger, openLedger } from "./open.ts";
import type { Deposit } from "./store.ts";
import { DAY_MS } from "../../contract/duration.ts";
import { eachTestIn } from "../../testing/folders.ts";
import { stopAfterEach } from "../../testing/stopping.ts";

const target = "https://staging.example client-1";
const rule = "refresh.lifetime";

let folder: string;
let file: string;
eachTestIn((made) => {
  folder = made;
  file = path.join(folder, "ledger");
});
const stopping = stopAfterEach();
const at = (ms: number) => ({ earliestMs: ms, latestMs: ms + 500 });

const depositOf = (over: Partial<Pick<Deposit, "secret">> = {}): Deposit => ({
  target,
  rule,
  subject: "refreshToken",
  secret: "MARKED-refresh-token",
  plan: {
    side: "alive",
    lifetimeMs: 30 * DAY_MS,
    issued: at(0),
    issuedHereMs: 0,
    ages: { fromMs: 29 * DAY_MS, untilMs: 30 * DAY_MS },
  } satisfies Plan,
  ...over,
});

const opened = async (key = "key") => {
  const ledger = openLedger(file, key, quickKey);
  await stopping({ stop: () => Promise.resolve(ledger.close()) });
  return ledger;
};
/** A ledger with one entry. */
const openedWith = async (deposit = depositOf()) => {
  const ledger = await opened();
  ledger.deposit(deposit);
  return ledger;
};
/** While the entry is due. */
const now = at(29.5 * DAY_MS);

describe("the ledger", () => {
  it("gives out an entry only while it is due, to its target and rule, until it is settled", async () => {
    const ledger = await openedWith();
    expect(ledger.due(target, rule, at(28 * DAY_MS))).toEqual([]);
    expect(ledger.due(target, rule, at(28 * DAY_MS), 2 * DAY_MS)).toHaveLength(1);
    expect(ledger.due("another target", rule, now)).toEqual([]);
    expect(ledger.due(target, "code.lifetime", now)).toEqual([]);
    const [mine] = ledger.due(target, rule, now);
    expect(mine).toMatchObject({ secret: "MARKED-refresh-token", rule, state: "waiting" });
    ledger.settle(mine?.id ?? "", { held: true, side: "alive", note: "accepted", age: at(0) }, 7);
    expect(ledger.due(target, rule, now)).toEqual([]);
    expect(ledger.entries()).toMatchObject([
      { state: "judged", held: true, note: "accepted", settledAtMs: 7 },
    ]);
  });

  it("lets a single-use entry be probed only once, even if the run that probed it was killed", async () => {
    const ledger = await openedWith();
    const [mine] = ledger.due(target, rule, now);
    const id = mine?.id ?? "";
    expect([ledger.ask(id), ledger.ask(id), ledger.ask("another")]).toEqual([true, false, false]);
    ledger.close();
    const later = await opened();
    expect(later.due(target, rule, now)).toEqual([]);
    later.expire(target, now, 5);
    expect(later.entries()).toMatchObject([
      { state: "missed", note: "a run probed it, but ended before it recorded the answer" },
    ]);
  });

  it("marks an entry that was not judged in time, or that decided nothing, as missed, with the reason", async () => {
    const ledger = await openedWith(depositOf({ secret: "one" }));
    ledger.deposit(depositOf({ secret: "two" }));
    const [one] = ledger.due(target, rule, now);
    ledger.miss(one?.id ?? "", "too close to its end", 7);
    ledger.expire(target, now, 8);
    ledger.expire(target, at(31 * DAY_MS), 9);
    expect(ledger.entries().map(({ state, note, settledAtMs }) => [state, note, settledAtMs])).toEqual([
      ["missed", "too close to its end", 7],
      ["missed", "no run happened while it was due", 9],
    ]);
  });

  it("is there with all that was done to it when it is opened again", async () => {
    const ledger = await openedWith();
    const before = ledger.entries();
    ledger.close();
    expect((await opened()).entries()).toEqual(before);
    expect(listLedger(file, () => "key", quickKey)).toEqual(before);
  });

  it("is used by one run at a time; another says so", async () => {
    const ledger = await openedWith();
    await expect(opened()).rejects.toThrow(
      `--ledger ${file}: process ${process.pid} is using it; wait until that run has ended`,
    );
    ledger.close();
    expect((await opened()).entries()).toHaveLength(1);
  });

  it("shows nothing of itself on disk, and keeps no secret of a settled entry", async () => {
    const ledger = await opened("a passphrase that must not be there either");
    ledger.deposit(depositOf());
    const text = readFileSync(file, "latin1");
    for (const word of ["MARKED", "passphrase", "refresh.lifetime"]) expect(text).not.toContain(word);
    const [mine] = ledger.due(target, rule, now);
    ledger.settle(mine?.id ?? "", { held: true, side: "alive", note: "", age: at(0) }, 0);
    expect(JSON.stringify(ledger.waiting(target, rule, "refreshToken"))).toBe("[]");
  });

  it("is neither opened nor changed by a wrong key, nor if it is damaged", async () => {
    (await openedWith()).close();
    const bytes = readFileSync(file);
    const refusal = `--ledger ${file}: the key does not open this ledger, or the file is damaged`;
    await expect(opened("wrong")).rejects.toThrow(refusal);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    for (const at of [20, 40, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(file, damaged);
      await expect(opened()).rejects.toThrow(refusal);
    }
    writeFileSync(file, bytes.subarray(0, 60));
    await expect(opened()).rejects.toThrow(refusal);
    writeFileSync(file, bytes);
    expect((await opened()).entries()).toHaveLength(1);
  });

  it("derives its key at the cost that OWASP's password storage cheat sheet recommends", async () => {
    openLedger(file, "key").close();
    await expect(opened()).rejects.toThrow("the key does not open this ledger");
    openLedger(file, "key", { ...quickKey, N: 2 ** 17, r: 8, p: 1 }).close();
  });

  it("is readable by its owner only, and refused otherwise", async () => {
    (await opened()).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    await expect(opened()).rejects.toThrow(
      /has mode 644, so others can read credentials in it; accepted is 600/,
    );
  });

  it("refuses a file that is not a ledger, by name", async () => {
    writeFileSync(file, "not a ledger at all, and long enough to be read as the head of one", {
      mode: 0o600,
    });
    await expect(opened()).rejects.toThrow(`--ledger ${file}: it is not a ledger`);
  });

  it.each([
    [2, /it has version 2, but this Touchstone reads version 3; use the version that made it/],
    [4, /it has version 4, but this Touchstone reads version 3; update it/],
  ])("refuses a file of version %i, both for use and for listing", async (version, words) => {
    (await opened()).close();
    const bytes = readFileSync(file);
    bytes["touchstone ledger ".length] = version;
    writeFileSync(file, bytes);
    await expect(opened()).rejects.toThrow(words);
    expect(() => listLedger(file, () => "key", quickKey)).toThrow(words);
  });
});
