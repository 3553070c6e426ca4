import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/loads.ts";
import { createUniqueness } from "./unique.ts";

const digest = (of: number | string): string =>
  createHash("sha256").update(String(of)).digest("hex").slice(0, 16);

describe("uniqueness", () => {
  it("tells a repeated credential at once where it is recent, and once only", () => {
    using folder = temporaryFolder();
    const unique = createUniqueness({ folder: path.join(folder.path, "digests") });
    expect(unique.add("code", digest(1), 10)).toBeUndefined();
    expect(unique.add("accessToken", digest(1), 20)).toBeUndefined();
    expect(unique.add("code", digest(1), 30)).toEqual({ what: "code", atMs: 30, beforeMs: 10 });
    expect(unique.add("code", digest(1), 40)).toEqual({ what: "code", atMs: 40, beforeMs: 10 });
    expect(unique.finish()).toEqual([]);
    expect(unique.note()).toBeUndefined();
  });

  it("finds one that is repeated long after, at the end", () => {
    using folder = temporaryFolder();
    const unique = createUniqueness({ folder: path.join(folder.path, "digests"), slots: 128 });
    for (let at = 0; at < 20_000; at += 1) expect(unique.add("code", digest(at), at)).toBeUndefined();
    for (const again of [17, 4_000, 17]) unique.add("code", digest(again), 30_000 + again);
    // The second repetition of 17 was recent, and told.
    expect(unique.finish()).toEqual([
      { what: "code", atMs: 30_017, beforeMs: 17 },
      { what: "code", atMs: 34_000, beforeMs: 4_000 },
    ]);
    unique.remove();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("keeps only so many, compares the rest completely, and says so", () => {
    using folder = temporaryFolder();
    const files = path.join(folder.path, "digests");
    const unique = createUniqueness({ folder: files, slots: 128, mostKept: 60_000 });
    const count = 100_000;
    for (let at = 0; at < count; at += 1) unique.add("accessToken", digest(at), at);
    for (let at = 0; at < 1_000; at += 1) unique.add("accessToken", digest(at), count + at);
    const found = unique.finish().length;
    expect(unique.note()).toMatch(/one in (2|4) over the whole run/);
    // A half of the digests is kept; so half of the repetitions are found, give or take five standard deviations.
    expect(Math.abs(found - 500)).toBeLessThan(80);
    const bytes = readdirSync(files).reduce((sum, name) => sum + statSync(path.join(files, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(60_000 * 16);
    expect(statSync(files).mode & 0o777).toBe(0o700);
  });

  it("goes on with the recent ones where the disk takes no more, and says so", () => {
    using folder = temporaryFolder();
    const files = path.join(folder.path, "digests");
    const unique = createUniqueness({ folder: files });
    for (let partition = 0; partition < 64; partition += 1)
      writeFileSync(path.join(files, `digests-${partition}`), "", { mode: 0o400 });
    chmodSync(files, 0o500);
    // Root may write everywhere: then a folder in the file's place stands in for a disk that refuses.
    if (process.getuid?.() === 0) unique.remove();
    unique.add("code", digest("a"), 1);
    expect(unique.finish()).toEqual([]);
    expect(unique.note()).toMatch(/compared only with some ten thousand issued before, because/);
    expect(unique.add("code", digest("a"), 2)).toEqual({ what: "code", atMs: 2, beforeMs: 1 });
    chmodSync(folder.path, 0o700);
    if (existsSync(files)) chmodSync(files, 0o700);
  });

  it("takes no notice of what is no digest", () => {
    using folder = temporaryFolder();
    const unique = createUniqueness({ folder: path.join(folder.path, "digests") });
    for (const nothing of ["", "xyz", "ABCDEF0123456789"]) {
      expect(unique.add("code", nothing, 1)).toBeUndefined();
      expect(unique.add("code", nothing, 2)).toBeUndefined();
    }
    expect(unique.finish()).toEqual([]);
  });
});
