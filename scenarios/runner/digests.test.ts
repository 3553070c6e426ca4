import { describe, expect, it } from "vitest";
import {
  crossDuplicates,
  digestBytes,
  partitionOf,
  writeDigest,
  type CrossDuplicate,
  type StoredDigest,
} from "./digests.ts";

const bytesOf = (stored: readonly StoredDigest[]): Buffer => {
  const buffer = Buffer.alloc(stored.length * digestBytes);
  for (const [at, one] of stored.entries()) writeDigest(buffer, at * digestBytes, one);
  return buffer;
};

const foundIn = (...segments: readonly Buffer[]): readonly CrossDuplicate[] => {
  const duplicates: CrossDuplicate[] = [];
  const partitions = segments.map((bytes, at) => ({ segment: at + 1, bytes }));
  crossDuplicates(partitions, (one) => duplicates.push(one));
  return duplicates;
};
const found = (...segments: readonly (readonly StoredDigest[])[]) => foundIn(...segments.map(bytesOf));

const one = (what: StoredDigest["what"], atMs: number, digest = "ffeeddccbbaa9988"): StoredDigest => ({
  what,
  digest,
  atMs,
});

describe("digests of several segments", () => {
  it("show a credential that two of them were issued, with both times", () => {
    expect(
      found([one("code", 1_200)], [one("code", 2_000_000_000), one("code", 5, "0000000000000000")]),
    ).toEqual([
      { what: "code", first: { segment: 1, atMs: 1_200 }, second: { segment: 2, atMs: 1_073_741_823 } },
    ]);
  });

  it("are compared among codes and among tokens of either kind", () => {
    expect(found([one("code", 1)], [one("accessToken", 2)])).toEqual([]);
    expect(found([one("accessToken", 1)], [one("refreshToken", 2)])).toHaveLength(1);
  });

  it("do not count a segment's own duplicates again, and count the others as a pooled run would", () => {
    expect(found([one("code", 1), one("code", 2)], [])).toEqual([]);
    expect(
      found([one("code", 1), one("code", 2)], [one("code", 3), one("code", 4)], [one("code", 5)]),
    ).toHaveLength(2);
  });

  it("may end in an incomplete digest, as those of a killed segment do", () => {
    const cut = bytesOf([one("code", 1), one("code", 2, "0123456789abcdef")]).subarray(0, digestBytes + 5);
    expect(foundIn(cut, bytesOf([one("code", 9)]))).toHaveLength(1);
  });

  it("are partitioned by their first bits", () => {
    expect(["00", "03", "04", "ff"].map((first) => partitionOf(`${first}00000000000000`))).toEqual([
      0, 0, 1, 63,
    ]);
  });
});
