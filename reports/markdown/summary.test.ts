import { describe, expect, it } from "vitest";
import { gateRun, loadRun, missingRule } from "../testing/ci-runs.ts";
import { authorized, ruleThat, withResults, hostile } from "../testing/fixture.ts";
import { inertMarkdown } from "./document.ts";
import { renderMarkdown } from "../testing/shown.ts";

describe("the summary in Markdown", () => {
  it("counts warnings and observations separately, and shows warnings unfolded", () => {
    const warned = ruleThat.warned("authorize.unregistered-redirect", "a", "it was cut");
    const observed = ruleThat.observed("authorize.redirect", '"kept"');
    const text = renderMarkdown([gateRun([warned, observed])]);
    expect(text).toMatch(/1 warned, 1 observed/);
    expect(text.indexOf("it was cut")).toBeGreaterThan(0);
    expect(text.indexOf("it was cut")).toBeLessThan(text.indexOf("<details>"));
  });

  it("says how long after the first exchange of a breach the others were sent", () => {
    const exchanges = [authorized(1, { clockMs: 5_000 }), authorized(2, { clockMs: 605_500 })];
    const text = renderMarkdown([gateRun([ruleThat.failed("code.lifetime", "a", "b", exchanges)])]);
    expect(text).toMatch(/2 \+10 min 0\.5 s GET/);
  });

  it("does not present an incomplete run as passed", () => {
    const text = renderMarkdown([gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 })]);
    expect(text).toMatch(/^# \? Nothing broke, but 1 rule could not be judged/);
  });

  it("lists objectives and latencies of a load", () => {
    const latencies = {
      count: 900,
      minMs: 1,
      meanMs: 2,
      p50Ms: 2,
      p90Ms: 3,
      p95Ms: 4,
      p99Ms: 5,
      p999Ms: 6,
      maxMs: 7,
    };
    const text = renderMarkdown([
      loadRun({
        endpoints: [{ endpoint: "list", outcome: "granted", service: latencies, response: latencies }],
      }),
    ]);
    expect(text).toContain("| ✗ list p95 | at most 8.00 ms | 9.40 ms");
    expect(text).toContain(
      "| list granted | 900 | scheduled start | 2.00 ms | 3.00 ms | 4.00 ms | 5.00 ms | 6.00 ms | 7.00 ms |",
    );
  });

  it("stays within a size limit by keeping the most important parts and counting what is left out", () => {
    const long = "x ".repeat(900);
    const broken = withResults().map(({ id }) => ruleThat.failed(id, long, long));
    const text = renderMarkdown([gateRun(broken, { outcome: "failed" })], { mostBytes: 20_000 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
    expect(text).toContain(`✗ ${broken.length} promises are broken`);
    const shown = text.split("### ✗").length - 1;
    expect(shown).toBeGreaterThan(1);
    expect(text).toContain(
      `**Left out to stay within the size limit:** ${broken.length - shown} of “Broken promises`,
    );
  });

  it("stays under 1 MiB, whatever the service answers", () => {
    const broken = withResults().map(({ id }) =>
      ruleThat.failed(id, hostile.repeat(400), "🙂".repeat(40_000)),
    );
    expect(Buffer.byteLength(renderMarkdown([gateRun(broken)]))).toBeLessThanOrEqual(1_048_576);
  });
});

it("inertMarkdown writes markup characters as entities", () => {
  expect(inertMarkdown("a *b* <i> `c` [d](e) @f | g")).toBe(
    "a &#42;b&#42; &#60;i&#62; &#96;c&#96; &#91;d&#93;&#40;e&#41; &#64;f &#124; g",
  );
});
