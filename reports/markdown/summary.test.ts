import { describe, expect, it } from "vitest";
import { gateRun, loadRun, missingRule } from "../testing/ci-runs.ts";
import { authorized, ruleThat, withResults, hostile } from "../testing/fixture.ts";
import { inert } from "./document.ts";
import { renderMarkdown } from "../testing/shown.ts";

describe("the summary in Markdown", () => {
  it("counts warnings and observations separately, and shows warnings", () => {
    const warned = ruleThat.warned("authorize.unregistered-redirect", "a", "it was cut");
    const observed = ruleThat.observed("authorize.redirect", '"kept"');
    const text = renderMarkdown([gateRun([warned, observed])]);
    expect(text).toMatch(/1 warned, 1 observed/);
    expect(text).toContain("it was cut");
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
    expect(text).toContain("| ✗ list p95 | at most 8.00 ms | 9.40 ms |");
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

it("needs no HTML, and shows a green gate on a page", () => {
  const text = renderMarkdown([gateRun(withResults())]);
  expect(text).not.toMatch(/<[a-z/]|&#?\w+;|\\/i);
  expect(text.split("\n").length).toBeLessThanOrEqual(80);
});

it.each([
  ["Gate: 3 of 4 (no more)", "Gate: 3 of 4 (no more)"],
  ["a *b* <i> said [d](e) @f | g", "a `*b* <i>` said `[d](e) @f |` g"],
  ["see `merge`, and `a b`.", "see `merge`, and `a b`."],
  ["one ` and ``two``", "one `` ` `` and ``` ``two`` ```"],
  ["snake_case at https://x.example/#1", "`snake_case` at `https://x.example/#1`"],
  ["- no list", "`-` no list"],
  ["1. no list", "`1.` no list"],
])("%s: what may be markup stands in code, and nothing else changes", (text, shown) => {
  expect(inert(text)).toBe(shown);
});
