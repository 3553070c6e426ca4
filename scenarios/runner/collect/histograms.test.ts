import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addEncoded, countedMs, latencyHistogram } from "./histograms.ts";
import { histogramOf } from "../testing/loads.ts";

describe("an encoded histogram", () => {
  it("adds up to the histogram of all values, however they are split", () => {
    const latencies = fc.array(fc.double({ min: 0, max: 3_600_000, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(latencies, { minLength: 1, maxLength: 4 }), (parts) => {
        const sum = latencyHistogram();
        for (const part of parts) {
          const one = histogramOf(part);
          expect(addEncoded(sum, encodeIntoCompressedBase64(one), one.maxValue)).toBe(true);
        }
        const pooled = histogramOf(parts.flat());
        expect(countedMs(sum)).toEqual(countedMs(pooled));
        expect([sum.totalCount, sum.maxValue]).toEqual([pooled.totalCount, pooled.maxValue]);
        for (const percentile of [50, 99, 99.9])
          expect(sum.getValueAtPercentile(percentile)).toBe(pooled.getValueAtPercentile(percentile));
      }),
      { numRuns: 100 },
    );
  });

  it.each(["", "AAAA", "HISTFAAA", encodeIntoCompressedBase64(histogramOf([1])).slice(0, -12)])(
    "is rejected if it is invalid: %j",
    (text) => {
      expect(addEncoded(latencyHistogram(), text, 1)).toBe(false);
    },
  );
});
