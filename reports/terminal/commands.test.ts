import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import type { Check } from "../../conformance/contract/check.ts";
import type { DetectReport } from "../../conformance/contract/detect.ts";
import { breachOf, exchanged, resultOf } from "../testing/fixture.ts";
import { width } from "../text/layout.ts";
import { behavioursWith, type ListedBehaviour, renderBehaviours } from "./behaviours.ts";
import { renderDetect, renderInterrupted } from "./detect.ts";
import { renderDoctor } from "./doctor.ts";
import { plain } from "./palette.ts";
import { renderReplay } from "./replay.ts";
import { renderCatalogue, renderRule } from "./rules.ts";

const page = { palette: plain, columns: 80 };

const tooLong = (text: string, columns: number): string[] =>
  text.split("\n").filter((line) => width(line) > columns);

describe("rules", () => {
  it("prints every requirement with its level and sentence, in at most 80 columns", () => {
    const text = renderCatalogue(page);
    const flat = text.replaceAll(/\s+/g, " ");
    const missing = requirementIds.filter(
      (id) => !flat.includes(`${id} ${catalogue[id].level} `) || !flat.includes(catalogue[id].sentence),
    );
    expect(missing).toEqual([]);
    expect(tooLong(text, 80)).toEqual([]);
  });

  it("prints one requirement in full", () => {
    const defects = [
      { name: "state-of-129-bytes-taken", summary: "A state of 129 bytes gets a code." },
      { name: "state-of-128-bytes-refused", summary: "The longest state that is allowed is refused." },
    ];
    expect(renderRule("authorize.state-length", defects, page)).toMatchInlineSnapshot(`
      "authorize.state-length
        A state of 128 bytes is accepted and one of 129 bytes is refused.

        level     required: the document says so; a breach fails the gate
        from      sections 2.1, 8 of the service's document
        judged    States at the boundary and far beyond it are sent, plain and
                  percent-encoded; the report names the readings that the answers
                  allow.
        readings  bytes-after-decoding   the 128 bytes are counted once
                                         percent-encoding is undone
                  bytes-before-decoding  the 128 bytes are counted as they stand in
                                         the query
        kills     state-of-129-bytes-taken    A state of 129 bytes gets a code.
                  state-of-128-bytes-refused  The longest state that is allowed is
                                              refused.
      "
    `);
  });

  it.each([
    ["code.unknown", "because The exchange takes the code"],
    ["exchange.no-store", "clause RFC 6749"],
    ["untestable.rate-limits", "because "],
  ] as const)("says of %s where it comes from", (id, start) => {
    const text = renderRule(id, [], page);
    expect(text.replaceAll(/ +/g, " ")).toContain(start);
    expect(text).not.toContain("kills");
  });
});

/** The last line of the preflight's report. */
const last = (checks: readonly Check[]): string | undefined =>
  renderDoctor(checks, page).trimEnd().split("\n").at(-1);

describe("doctor", () => {
  const reach: Check = { check: "base address", ok: true, message: "http://127.0.0.1:4000 answers" };
  const secret: Check = {
    check: "clients[0]",
    ok: false,
    message: 'the exchange was refused: status 401, body {"error":"invalid\u001b[2Jclient"}',
    remedy: "set the right secret in CLIENT_A_SECRET",
    fatal: "configuration",
  };
  const second: Check = {
    check: "clients[1]",
    ok: "skipped",
    message: "no second client: rules that compare two clients will not run",
    remedy: "add a second entry to `clients`",
  };

  it("prints a tick or a remedy for each check", () => {
    expect(renderDoctor([reach, secret, second], page)).toMatchInlineSnapshot(`
      "✓ base address  http://127.0.0.1:4000 answers
      ✗ clients[0]    the exchange was refused: status 401, body
                      {"error":"invalid\\x1b[2Jclient"}
                      → set the right secret in CLIENT_A_SECRET
      – clients[1]    no second client: rules that compare two clients will not run
                      → add a second entry to \`clients\`

      1 check of 3 failed, 1 skipped; a run cannot begin like this.
      "
    `);
  });

  it("says what the checks come to", () => {
    const { fatal: _, ...harmless } = secret;
    expect([last([reach]), last([reach, second]), last([harmless])]).toEqual([
      "Ready: 1 check held.",
      "Ready: 1 check held, 1 skipped.",
      "1 check of 1 failed; some rules will not run.",
    ]);
  });
});

const clean: DetectReport = {
  effort: "quick",
  seed: 7,
  durationMs: 48_210,
  defects: {
    total: 3,
    killed: 3,
    survivors: [],
    kills: [
      { defect: "state-lower-cased", rule: "authorize.echoes-state", cases: 3 },
      { defect: "state-trimmed", rule: "authorize.echoes-state", cases: 1_204 },
      { defect: "code-reusable", rule: "code.single-use", cases: 1 },
    ],
  },
  variants: { total: 34, falseAlarms: [], unsettled: [] },
};

/** The totals at the end of a report on detection. */
const ends = (text: string): string => text.slice(text.indexOf("Defects "));

describe("detect", () => {
  it("prints for each rule which defects it killed and with how many cases", () => {
    const text = renderDetect(clean, page);
    expect(text.slice(0, text.indexOf("Broken by no defect"))).toMatchInlineSnapshot(`
      "Detection at quick effort
      beside each defect: the cases that the rule had judged when it failed

      Authorize
        ✓ authorize.echoes-state                   2 of 2 defects
            state-lower-cased 3 · state-trimmed 1,204

      Authorization code
        ✓ code.single-use                          1 of 1 defect
            code-reusable 1

      "
    `);
    expect(text.slice(text.indexOf("Defects "))).toMatchInlineSnapshot(`
      "Defects   3 of 3 defects killed
      Variants  no false alarm on 34 variants
      Took      48.2 s, seed 7
      "
    `);
  });

  it("lists the gating rules that no defect breaks, and no others", () => {
    const [, listed = ""] =
      /Broken by no defect \((?:\d+)\)\n([^]*?)\n\n/.exec(renderDetect(clean, page)) ?? [];
    const ids = listed.trim().split(/,\s+/);
    expect(ids).toContain("refresh.lifetime");
    expect(ids).not.toContain("code.single-use");
    expect(ids).not.toContain("authorize.redirect");
  });

  it("names survivors, false alarms and what could not be settled", () => {
    const report: DetectReport = {
      ...clean,
      defects: {
        ...clean.defects,
        killed: 2,
        survivors: [{ name: "code-lives-a-second-longer", rule: "code.lifetime", verdict: "passed" }],
      },
      variants: {
        total: 34,
        falseAlarms: [
          {
            variant: "clock-skewed",
            rule: "access.lifetime",
            expected: "it works for 2 h",
            actual: "refused\u202e",
          },
        ],
        unsettled: [
          { variant: "slow", rule: "refresh.reusable", verdict: "inconclusive", reason: "no answer" },
        ],
      },
    };
    const text = renderDetect(report, page);
    expect(text).toContain("code-lives-a-second-longer survived");
    expect(text.slice(text.indexOf("Survivors"))).toMatchInlineSnapshot(`
      "Survivors (1)

        ✗ code-lives-a-second-longer  code.lifetime: passed

      False alarms (1)

        ✗ clock-skewed  access.lifetime
          expected  it works for 2 h
          actual    refused\\u202e

      Not settled on a variant (1)

        ? refresh.reusable: inconclusive
          no answer
          slow

      Defects   2 of 3 defects killed
      Variants  1 false alarm, on 1 variant among 34 variants
      Took      48.2 s, seed 7
      "
    `);
  });

  it("claims nothing for what a run that was cut short did not try", () => {
    const report: DetectReport = { ...clean, defects: { ...clean.defects, total: 339 } };
    expect(ends(renderDetect(report, page))).toMatchInlineSnapshot(`
      "Defects   3 of 339 defects killed, 336 not tried
      Variants  no false alarm on those of 34 variants that were judged
      Outcome   the run was cut short: what was not tried proves nothing
      Took      48.2 s, seed 7
      "
    `);
    const counted = { ...clean, variants: { ...clean.variants, judged: 12 } };
    expect(ends(renderDetect(counted, page))).toMatchInlineSnapshot(`
      "Defects   3 of 3 defects killed
      Variants  no false alarm on 12 of 34 variants
      Outcome   the run was cut short: what was not tried proves nothing
      Took      48.2 s, seed 7
      "
    `);
  });

  it("is one line for a run that was interrupted", () => {
    const report = {
      ...clean,
      defects: { ...clean.defects, total: 339 },
      variants: { ...clean.variants, judged: 12 },
    };
    expect(renderInterrupted(report)).toBe(
      "Interrupted after 3 of 339 defects and 12 of 34 variants; seed 7. That proves nothing.\n",
    );
  });

  it("draws the whole matrix, as many rules side by side as fit", () => {
    const verdicts = Object.fromEntries(requirementIds.map((id) => [id, "passed"])) as Record<
      string,
      "passed"
    >;
    const report: DetectReport = {
      ...clean,
      matrix: [
        {
          defect: "state-trimmed",
          breaks: ["authorize.echoes-state", "authorize.state-charset"],
          verdicts: {
            ...verdicts,
            "authorize.answers-with-code": "inconclusive",
            "authorize.echoes-state": "failed",
            "authorize.state-length": "failed",
          },
        },
        { defect: "a-defect-with-a-name-that-goes-on-and-on-and-on", breaks: [], verdicts },
      ],
    };
    const text = renderDetect(report, page);
    expect(text).toMatch(/state-trimmed {2,}\?●○×·+/);
    expect(text).toContain("a-defect-with-a-name-that-goes-on-and-o…");
    const cells = [...text.matchAll(/^ {2}state-trimmed +([●○×·?]+)$/gm)].map(([, row]) => row).join("");
    expect(cells).toHaveLength(requirementIds.length);
    expect(tooLong(text, 80)).toEqual([]);
  });
});

describe("the behaviours of the fake", () => {
  const all: readonly ListedBehaviour[] = [
    { name: "sound", summary: "Keeps every promise of the document.", kind: "sound", breaks: [] },
    {
      name: "push-never",
      summary: "No push is ever sent.",
      kind: "defect",
      breaks: ["push.delivered", "push.schedule"],
    },
    { name: "code-reusable", summary: "A code works twice.", kind: "defect", breaks: ["code.single-use"] },
    { name: "polling", summary: "Looks for due pushes each second.", kind: "variant", breaks: [] },
  ];

  it("are listed by what they are, defects by the section that they break", () => {
    expect(renderBehaviours(all, page)).toMatchInlineSnapshot(`
      "Keeps every promise (1)
        sound
            Keeps every promise of the document.

      Defects: Authorization code (1)
        code-reusable
            A code works twice.
            breaks code.single-use

      Defects: Webhook push (1)
        push-never
            No push is ever sent.
            breaks push.delivered, push.schedule

      Variants: different, and conforming (1)
        polling
            Looks for due pushes each second.

      4 behaviours: 2 defects, 1 variant
      "
    `);
  });

  it.each([
    ["SINGLE-use", ["code-reusable"]],
    ["push", ["push-never", "polling"]],
    ["promise of", ["sound"]],
    ["", ["sound", "push-never", "code-reusable", "polling"]],
    ["nothing such", []],
  ])("are found by %j in name, summary or rule", (text, names) => {
    expect(behavioursWith(all, text).map(({ name }) => name)).toEqual(names);
  });
});

describe("replay", () => {
  const where = { ...page, run: "runs/one" };
  const breach = breachOf("a used code is refused", "it gave an accessToken");

  it("shows a failure that came back with its history", () => {
    const result = resultOf("code.single-use", { kind: "failed", cases: 3, breach }, [exchanged(4)]);
    const text = renderReplay({ answer: "still fails", result }, where);
    expect(text).toMatch(/^still fails {2}code\.single-use\n/);
    expect(text).toContain("#4  POST /open-api/oauth/access-token");
    expect(tooLong(text, 80)).toEqual([]);
  });

  it("is one line for one that is fixed", () => {
    const result = resultOf("code.single-use", { kind: "passed", cases: 3 });
    expect(renderReplay({ answer: "fixed", result }, where)).toBe("fixed  code.single-use\n");
  });

  it("says why where the rule could not be judged", () => {
    const result = resultOf("refresh.lifetime", {
      kind: "could-not-run",
      missing: "clock.advance",
      reason: "30 d are too long",
    });
    expect(renderReplay({ answer: "could not run", result }, where)).toBe(
      "could not run  refresh.lifetime\n  clock.advance is missing: 30 d are too long\n",
    );
  });
});

it("colours change no word", () => {
  const coloured = renderDetect(clean, { ...page, palette: pc.createColors(true) });
  // eslint-disable-next-line no-control-regex -- colours are control characters
  expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(renderDetect(clean, page));
});
