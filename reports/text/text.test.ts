import { assert, integer, property, string } from "fast-check";
import { anyCharacter } from "../../conformance/testing/made.ts";
import { describe, expect, it } from "vitest";
import { type Broken, othersOf, laterBy } from "./breach.ts";
import { compact, compactFields, words, changedOf } from "./facts.ts";
import { elapsed, figure, plural, shellWord, change, percent } from "./figures.ts";
import { cut, fold, padEnd, padStart, width, wrap } from "./layout.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { authorized, exchanged } from "../testing/fixture.ts";

it.each([
  [percent(2.16e-17), "under 0.001 %"],
  [percent(0), "0 %"],
  [percent(0.0123), "1.23 %"],
  [change(1.123), "+12.3 %"],
  [change(0.96), "−4 %"],
  [change(14.493), "×14.5"],
  [change(2.5e9), "over ×1,000"],
])("formats a share or a change as %s", (actual, expected) => expect(actual).toBe(expected));

it("changedOf reduces two observations to the fields that differ", () => {
  const [before, after] = [
    { kept: { status: 400 }, changed: { status: 400 }, gone: 1 },
    { kept: { status: 400 }, changed: { status: 200 }, come: 2 },
  ].map((one) => JSON.stringify(one)) as [string, string];
  expect(changedOf(before, after)).toEqual([
    '{"changed":{"status":400},"gone":1}',
    '{"changed":{"status":200},"come":2}',
  ]);
  expect(changedOf('"text"', after)).toEqual(['"text"', after]);
});

it.each([
  [2, ["b"], ["1 further input: b"]],
  [2, [], ["1 further input"]],
  [4, ["b", "c", "d"], ["3 further inputs:", "b", "c", "d"]],
  [9, ["b", "c", "d", "e"], ["8 further inputs:", "b", "c", "d", "and 5 more"]],
  [3, ["b"], ["2 further inputs:", "b", "and 1 more"]],
])("othersOf summarizes the others of %i inputs that failed", (brokenCases, others, told) => {
  const broken = {
    facts: { brokenCases, broken: ["a", ...others] },
    breach: { reproduction: { counterexample: "a" } },
  } as unknown as Broken;
  expect(othersOf(broken)).toEqual(told);
});

const anyText = string({ unit: anyCharacter });

describe("safe", () => {
  it.each([
    ["an ANSI escape", "\u001b[31mred", String.raw`\x1b[31mred`],
    ["a one-byte escape", "\u009b2J", String.raw`\x9b2J`],
    ["line ends and tabs", "a\r\n\tb", String.raw`a\r\n\tb`],
    ["NUL and DEL", "\0\u007f", String.raw`\x00\x7f`],
    ["bidirectional overrides", "a\u202eb\u2066", String.raw`a\u202eb\u2066`],
    ["zero-width characters", "\u200b\ufeff", String.raw`\u200b\ufeff`],
    ["line separators", "\u2028\u2029", String.raw`\u2028\u2029`],
    ["tag characters", "\u{e0041}", String.raw`\u{e0041}`],
    ["half a surrogate pair", "\ud800", String.raw`\ud800`],
    ["invisible letters and marks", "a\u3164b\u034fc\uffa0", String.raw`a\u3164b\u034fc\uffa0`],
    ["variation selectors", "\u2764\ufe0f\u{e0100}", String.raw`❤\ufe0f\u{e0100}`],
  ])("escapes %s", (_, text, shown) => {
    expect(harmless(text)).toBe(shown);
  });

  it("does not change printable text", () => {
    const text = 'é ß Я ０ ① 日本 🙂 ‹code 1› {"a":"b\\n"}';
    expect(harmless(text)).toBe(text);
  });

  it("leaves no unsafe character in any text, and is idempotent", () => {
    assert(
      property(anyText, (text) => {
        expect(harmless(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/u);
        expect(harmless(harmless(text))).toBe(harmless(text));
      }),
    );
  });
});

describe("width", () => {
  it.each([
    ["abc", 3],
    ["\u001b[31mabc\u001b[39m", 3],
    ["日本", 4],
    ["e\u0301", 1],
    ["🙂", 2],
    ["✓ ‹code 1›…", 11],
  ])("of %j is %i", (text, columns) => {
    expect(width(text)).toBe(columns);
  });

  it("is what padEnd, padStart and cut measure", () => {
    expect(padEnd("日", 4)).toBe("日  ");
    expect(padStart("\u001b[2mx\u001b[22m", 3)).toBe("  \u001b[2mx\u001b[22m");
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(cut("abcd", 4)).toBe("abcd");
  });
});

describe("wrap", () => {
  it("breaks sentences at spaces, data also after commas and ampersands", () => {
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("a=1&b=2&c=3", 8, "data")).toEqual(["a=1&b=2&", "c=3"]);
    expect(wrap("1,204 cases", 6)).toEqual(["1,204", "cases"]);
    expect(wrap("", 6)).toEqual([""]);
  });

  it("keeps a number with its unit, and the parts of a duration together", () => {
    expect(wrap("refused from 30 d 0.5 s", 17)).toEqual(["refused from", "30 d 0.5 s"]);
    expect(wrap("at most 128 bytes are", 12)).toEqual(["at most", "128 bytes", "are"]);
    expect(wrap("accepted up to 9 min 59.44 s", 20, "data")).toEqual(["accepted up to", "9 min 59.44 s"]);
    expect(wrap("of 3 so it", 4)).toEqual(["of 3", "so", "it"]);
  });

  it("breaks no path, so that it can be copied", () => {
    expect(wrap("the record is runs/2026-11-28-conform-a931", 20)).toEqual([
      "the record is",
      "runs/2026-11-28-conform-a931",
    ]);
  });

  it("never exceeds the width but for a path, and loses only spaces", () => {
    assert(
      property(
        anyText.map(harmless).filter((one) => !one.includes("/")),
        integer({ min: 2, max: 30 }),
        (text, columns) => {
          const lines = wrap(text, columns, "data");
          for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
          expect(lines.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
        },
      ),
    );
  });
});

it("fold cuts a text to the given number of lines and states its full length", () => {
  expect(fold("x".repeat(2_000), 30, 2)).toEqual(["x".repeat(30), `${"x".repeat(10)}… (2,000 characters)`]);
  expect(fold("short", 30, 2)).toEqual(["short"]);
});

describe("formatting", () => {
  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [999.6, "1.0 s"],
    [59_940, "59.9 s"],
    [59_960, "1.0 min"],
    [450_000, "7.5 min"],
    [7_200_000, "2.0 h"],
  ])("writes %d ms as %s", (durationMs, text) => {
    expect(elapsed(durationMs)).toBe(text);
  });

  it("writes counts with their nouns", () => {
    expect([plural(1, "case"), plural(1_204, "case"), plural(2, "rule was", "rules were")]).toEqual([
      "1 case",
      "1,204 cases",
      "2 rules were",
    ]);
    expect(figure(1_234_567)).toBe("1,234,567");
  });

  it("quotes words for a shell", () => {
    expect(shellWord("runs/2030-01-01T00-00-00Z")).toBe("runs/2030-01-01T00-00-00Z");
    expect(shellWord("my runs/it's")).toBe(String.raw`'my runs/it'\''s'`);
    expect(shellWord("")).toBe("''");
  });
});

describe("compact", () => {
  it("writes JSON with few quotation marks", () => {
    expect(compact({ status: 200, fields: ["code", "a,b"], none: null, ok: true })).toBe(
      '{status: 200, fields: [code, "a,b"], none: null, ok: true}',
    );
    expect(compactFields({ status: 200 })).toBe("status: 200");
    expect(compactFields({})).toBe("{}");
    expect(compactFields("json")).toBe("json");
    expect(compactFields([1, "200 json"])).toBe("[1, 200 json]");
  });

  it("escapes unsafe characters", () => {
    expect(compact({ "\u001b": "\u202e" })).toBe(String.raw`{"\u001b": "\u202e"}`);
  });

  it("turns camel-case names into words", () => {
    expect([words("roundsWithoutWinner"), words("codeLifetimeMs"), words("plain")]).toEqual([
      "rounds without winner",
      "code lifetime",
      "plain",
    ]);
  });
});

const refused = (n: number, more: Partial<ExchangeRecord> = {}): ExchangeRecord => ({
  ...exchanged(n),
  answer: { status: 400, headers: [], text: "{}" },
  ...more,
});
const start = 1_893_456_000_000;

describe("how much later an exchange was sent", () => {
  it("is what the target's clock read, however long the machine took", () => {
    const proof = [
      authorized(1, { clockMs: start, startedMs: 10 }),
      refused(2, { clockMs: start + 600_500, startedMs: 90_000 }),
      refused(3, { startedMs: 95_000 }),
      refused(4, { clockMs: start + 600_500, startedMs: 99_000 }),
      refused(5, { startedMs: 99_000 }),
    ];
    // The third was sent between two others of the same moment; nothing encloses the last.
    expect([...laterBy(proof, false)]).toEqual([
      [2, "+10 min 0.5 s"],
      [3, "+10 min 0.5 s"],
      [4, "+10 min 0.5 s"],
    ]);
  });

  it("is what this machine's clock said in real time", () => {
    const proof = [authorized(1, { startedMs: 5 }), refused(2, { startedMs: 61_005 })];
    expect([...laterBy(proof, true)]).toEqual([[2, "+1 min 1 s"]]);
  });

  it("is unknown if two clocks counted in real time", () => {
    const push = refused(2, { startedMs: 61_005, isPush: true });
    expect([...laterBy([authorized(1, { startedMs: 5 }), push], true)]).toEqual([]);
  });
});
