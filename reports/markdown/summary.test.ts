import { describe, expect, it } from "vitest";
import { gateRun } from "../testing/ci-runs.ts";
import { ruleThat, withResults, hostile } from "../testing/fixture.ts";
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
