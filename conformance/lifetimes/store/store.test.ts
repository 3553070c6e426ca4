import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
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
  file = path.join(folder, "ledger.sqlite");
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
  it("gives an entry to only one run, and only while it is due", async () => {
    const ledger = await openedWith();
    expect(ledger.claim(target, rule, at(28 * DAY_MS), 0)).toEqual([]);
    expect(ledger.claim("another target", rule, now, 0)).toEqual([]);
    const other = await opened();
    const [mine] = ledger.claim(target, rule, now, 0);
    expect(mine).toMatchObject({
      secret: "MARKED-refresh-token",
      rule: "refresh.lifetime",
      state: "claimed",
    });
    expect(other.claim(target, rule, now, 0)).toEqual([]);
  });

  it("gives out a released entry again, but never a settled one", async () => {
    const ledger = await openedWith();
    const [first] = ledger.claim(target, rule, now, 0);
    ledger.release(first?.id ?? "");
    const [second] = ledger.claim(target, rule, now, 0);
    expect(second?.id).toBe(first?.id);
    ledger.settle(
      second?.id ?? "",
      { held: true, side: "alive", note: "accepted", age: at(29.5 * DAY_MS) },
      7,
    );
    expect(ledger.claim(target, rule, now, 0)).toEqual([]);
    expect(ledger.entries()).toMatchObject([
      { state: "judged", held: true, note: "accepted", settledAtMs: 7 },
    ]);
  });

  it("gives out an entry held by a killed run again after its lease", async () => {
    const ledger = await openedWith();
    expect(ledger.claim(target, rule, now, 0)).toHaveLength(1);
    expect(ledger.claim(target, rule, now, 60_000)).toHaveLength(0);
    expect(ledger.claim(target, rule, now, 31 * 60_000)).toHaveLength(1);
  });

  it("gives an entry that is due soon to a run that may wait for it", async () => {
    const ledger = await openedWith();
    const now = at(29 * DAY_MS - 60_000);
    expect(ledger.claim(target, rule, now, 0, 50_000)).toEqual([]);
    expect(ledger.claim(target, rule, now, 0, 70_000)).toHaveLength(1);
  });

  it("marks an entry that a killed run held until it expired as missed, with the reason", async () => {
    const ledger = await openedWith();
    ledger.claim(target, rule, now, 0);
    expect(ledger.expire(target, at(31 * DAY_MS), 60_000)).toEqual([]);
    expect(ledger.expire(target, at(31 * DAY_MS), 31 * 60_000)).toMatchObject([
      { state: "missed", note: expect.stringContaining("the run that held it") as string },
    ]);
  });

  it("lets a single-use entry be probed only once, even if the run that probed it was killed", async () => {
    const ledger = await openedWith();
    const [mine] = ledger.claim(target, rule, now, 0);
    const id = mine?.id ?? "";
    expect([ledger.ask(id), ledger.ask(id), ledger.ask("another")]).toEqual([true, false, false]);
    ledger.release(id);
    expect(ledger.claim(target, rule, now, 31 * 60_000)).toEqual([]);
    expect(ledger.expire(target, now, 0)).toEqual([]);
    expect(ledger.expire(target, now, 31 * 60_000)).toMatchObject([
      { state: "missed", note: "a run probed it, but ended before it recorded the answer" },
    ]);
  });

  it("marks an undecided entry as missed, with the reason, and records a late probe under the other side", async () => {
    const ledger = await openedWith(depositOf({ secret: "one" }));
    ledger.deposit(depositOf({ secret: "two" }));
    const [one, two] = ledger.claim(target, rule, now, 0);
    ledger.ask(one?.id ?? "");
    ledger.miss(one?.id ?? "", "too close to its end", 7);
    ledger.settle(two?.id ?? "", { held: true, side: "dead", note: "refused", age: at(30.1 * DAY_MS) }, 8);
    const states = ledger.entries().map(({ state, side, note }) => [state, side, note].join(" "));
    expect(states.toSorted()).toEqual(["judged dead refused", "missed alive too close to its end"]);
  });

  it("marks an entry that was not judged in time as missed, with the reason", async () => {
    const ledger = await openedWith();
    expect(ledger.expire(target, now, 0)).toEqual([]);
    expect(ledger.expire(target, at(31 * DAY_MS), 9)).toMatchObject([
      { state: "missed", note: "no run happened while it was due", settledAtMs: 9 },
    ]);
    expect(ledger.expire(target, at(31 * DAY_MS), 9)).toEqual([]);
  });

  it("encrypts secrets on disk, and deletes them once an entry is settled", async () => {
    const ledger = await opened("a passphrase that must not be there either");
    ledger.deposit(depositOf());
    const bytes = () =>
      readdirSync(folder)
        .map((name) => readFileSync(path.join(folder, name), "latin1"))
        .join("");
    expect(bytes()).toContain("refresh.lifetime");
    expect(bytes()).not.toContain("MARKED");
    expect(bytes()).not.toContain("passphrase");
    const [mine] = ledger.claim(target, rule, now, 0);
    ledger.settle(mine?.id ?? "", { held: true, side: "alive", note: "", age: at(0) }, 0);
    const database = new DatabaseSync(file);
    expect(database.prepare("select secret from entries").all()).toEqual([{ secret: null }]);
    database.close();
  });

  it("is neither opened nor changed by a wrong key", async () => {
    await openedWith();
    await expect(opened("wrong")).rejects.toThrow(`--ledger ${file}: the key does not open this ledger`);
    expect((await opened()).entries()).toHaveLength(1);
  });

  it("derives its key at the cost that OWASP's password storage cheat sheet recommends", async () => {
    openLedger(file, "key").close();
    await expect(opened()).rejects.toThrow("the key does not open this ledger");
    openLedger(file, "key", { ...quickKey, N: 2 ** 17, r: 8, p: 1 }).close();
  });

  it("is readable by its owner only, and refused otherwise", async () => {
    await opened();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    await expect(opened()).rejects.toThrow(
      /has mode 644, so others can read credentials in it; accepted is 600/,
    );
  });

  it("refuses a file that is not a ledger, by name", async () => {
    writeFileSync(file, "not a database at all, and long enough to be read as a header of one", {
      mode: 0o600,
    });
    await expect(opened()).rejects.toThrow(`--ledger ${file}:`);
  });

  it("does not decrypt an entry that was moved to another rule", async () => {
    const ledger = await openedWith();
    const database = new DatabaseSync(file);
    database.exec("update entries set rule = 'code.lifetime'");
    database.close();
    expect(() => ledger.claim(target, "code.lifetime", now, 0)).toThrow("does not open");
  });

  it.each([
    [1, /it has version 1, but this Touchstone reads version 2; use the version that made it/],
    [3, /it has version 3, but this Touchstone reads version 2; update it/],
  ])("refuses a file of version %i, both for use and for listing", async (version, words) => {
    await opened();
    const database = new DatabaseSync(file);
    database.prepare("update meta set value = ? where key = 'version'").run(Uint8Array.of(version));
    database.close();
    await expect(opened()).rejects.toThrow(words);
    expect(() => listLedger(file)).toThrow(words);
  });
});
