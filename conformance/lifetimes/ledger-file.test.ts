import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createSecrets } from "../contract/secrets.ts";
import { entryOf, quickKey } from "../testing/made.ts";
import { eachTestIn } from "../testing/folders.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { asJson, fromJson, listLedger, openLedger } from "./ledger-file.ts";

let file: string;
eachTestIn((folder) => (file = path.join(folder, "ledger")));
const stopping = stopAfterEach();

const opened = async (key = "key") => {
  const ledger = openLedger(file, key, quickKey);
  await stopping({ stop: () => Promise.resolve(ledger.close()) });
  return ledger;
};
const held = '{"refreshToken":"MARKED"}';
/** A ledger with one entry. */
const openedWith = async (key = "key") => {
  const ledger = await opened(key);
  ledger.put(entryOf({ held }));
  return ledger;
};

describe("the ledger", () => {
  it("is there with all that was put into it when it is opened again, the latest of each id", async () => {
    const ledger = await openedWith();
    ledger.put(entryOf({ id: "2", due: { earliestMs: 0, latestMs: 1 } }));
    ledger.put(entryOf({ note: "it was probed" }));
    ledger.close();
    const [first, second] = (await opened()).entries();
    expect([first?.note, second?.id]).toEqual(["it was probed", "2"]);
    expect(listLedger(file, () => "key", quickKey)).toEqual([second, first]);
  });

  it("is used by one run at a time; another says so", async () => {
    const ledger = await openedWith();
    await expect(opened()).rejects.toThrow(
      `--ledger ${file}: process ${process.pid} is using it; wait until that run has ended`,
    );
    ledger.close();
    expect((await opened()).entries()).toHaveLength(1);
  });

  it("shows nothing of itself on disk", async () => {
    await openedWith("a passphrase that must not be there either");
    const text = readFileSync(file, "latin1");
    for (const word of ["MARKED", "passphrase", "refresh.lifetime"]) expect(text).not.toContain(word);
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
    const text = "not a ledger at all, and long enough to be read as the head of one";
    writeFileSync(file, text, { mode: 0o600 });
    await expect(opened()).rejects.toThrow(`--ledger ${file}: it is not a ledger`);
  });

  it.each([
    [3, /it has version 3, but this Touchstone reads version 4; use the version that made it/],
    [5, /it has version 5, but this Touchstone reads version 4; update it/],
  ])("refuses a file of version %i, both for use and for listing", async (version, words) => {
    (await opened()).close();
    const bytes = readFileSync(file);
    bytes["touchstone ledger ".length] = version;
    writeFileSync(file, bytes);
    await expect(opened()).rejects.toThrow(words);
    expect(() => listLedger(file, () => "key", quickKey)).toThrow(words);
  });
});

describe("a credential in the ledger", () => {
  const client = { id: "client-1", secret: "MARKED-secret", redirectUri: "https://client.example/" };
  const code = "A".repeat(20);
  const world = (own = client) => ({ client: own, secondClient: undefined, secrets: createSecrets() });

  it("comes back with its client, whose secret was not written, and is masked again", () => {
    const text = asJson({ code, client }) ?? "";
    expect(text).not.toContain("MARKED");
    const later = world();
    expect(fromJson(text, later)).toEqual({ code, client });
    expect(later.secrets.mask(`it got ${code}`)).not.toContain(code);
    expect(fromJson(text, world({ ...client, id: "another" }))).toBeUndefined();
  });

  it("is not written with a number that JSON cannot represent", () => {
    expect(asJson({ livesMs: Number.NaN })).toBeUndefined();
  });
});
