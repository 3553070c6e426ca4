import { describe, expect, it } from "vitest";
import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import type { Check } from "../../conformance/contract/check.ts";
import { breachOf, exchanged, resultOf, ruleThat } from "../testing/fixture.ts";
import { width } from "../text/layout.ts";
import { onTerminal } from "../testing/shown.ts";
import {
  behavioursDoc,
  behavioursWith,
  type ListedBehaviour,
  doctorDoc,
  replayDoc,
  catalogueDoc,
  ruleDoc,
} from "./commands.ts";
import type { Doc } from "./model.ts";

const render = (document: Doc): string => onTerminal(document, 80);

const tooLong = (text: string, columns: number): string[] =>
  text.split("\n").filter((line) => width(line) > columns);

describe("rules", () => {
  it("prints every requirement with its level and sentence, in at most 80 columns", () => {
    const text = render(catalogueDoc());
    const flat = text.replaceAll(/\s+/g, " ");
    const missing = requirementIds.filter(
      (id) => !flat.includes(`${id} ${catalogue[id].level}, `) || !flat.includes(catalogue[id].sentence),
    );
    expect(missing).toEqual([]);
    expect(tooLong(text, 80)).toEqual([]);
  });

  it("prints one requirement in full", () => {
    const defects = [
      { name: "state-of-129-bytes-taken", summary: "A state of 129 bytes gets a code." },
      { name: "state-of-128-bytes-refused", summary: "The longest state that is allowed is refused." },
    ];
    expect(render(ruleDoc("authorize.state-length", defects))).toMatchInlineSnapshot(`
      "authorize.state-length
        A state of 128 bytes is accepted and one of 129 bytes is refused.

        Level   required: the document says so; a breach fails the gate
        From    sections 2.1, 8 of the service's document
        Judged  States at the boundary and far beyond it are sent, plain and
                percent-encoded; the report names the readings that the answers allow.

      Readings
        - bytes-after-decoding
          the 128 bytes are counted after percent-decoding
        - bytes-before-decoding
          the 128 bytes are counted as sent in the query

      Seeded defects
        - state-of-129-bytes-taken
          A state of 129 bytes gets a code.
        - state-of-128-bytes-refused
          The longest state that is allowed is refused.

      ○ authorize.state-length: required
      Broken by 2 seeded defects.
      "
    `);
  });

  it.each([
    ["code.unknown", "Because The exchange takes the code"],
    ["exchange.no-store", "Clause RFC 6749"],
    ["untestable.rate-limits", "Because "],
  ] as const)("states the source of %s", (id, start) => {
    const text = render(ruleDoc(id, []));
    expect(text.replaceAll(/ +/g, " ")).toContain(start);
    expect(text).toContain("No seeded defect breaks this rule.");
  });
});

/** The last line of the preflight's report. */
const last = (checks: readonly Check[]): string | undefined =>
  render(doctorDoc(checks)).trimEnd().split("\n").at(-1);

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
    expect(render(doctorDoc([reach, secret, second]))).toMatchInlineSnapshot(`
      "Checks
        Check           Findings
        ✓ base address  http://127.0.0.1:4000 answers
        ✗ clients[0]    the exchange was refused: status 401, body
                        {"error":"invalid\\x1b[2Jclient"}
                        → set the right secret in CLIENT_A_SECRET
        – clients[1]    no second client: rules that compare two clients will not run
                        → add a second entry to \`clients\`

      ✗ 1 check of 3 failed, 1 skipped; a run cannot start.
      "
    `);
  });

  it("ends with a summary of the checks", () => {
    const { fatal: _, ...harmless } = secret;
    expect([last([reach]), last([reach, second]), last([harmless])]).toEqual([
      "✓ Ready: 1 check passed.",
      "✓ Ready: 1 check passed, 1 skipped.",
      "✗ 1 check of 1 failed; some rules will not run.",
    ]);
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

  it("are listed by kind, and defects by the section that they break", () => {
    expect(render(behavioursDoc(all))).toMatchInlineSnapshot(`
      "Keeps every promise (1)
        - sound
          Keeps every promise of the document.

      Defects: Authorization code (1)
        - code-reusable
          A code works twice.
          breaks code.single-use

      Defects: Webhook push (1)
        - push-never
          No push is ever sent.
          breaks push.delivered, push.schedule

      Variants: different but conforming (1)
        - polling
          Looks for due pushes each second.

      ○ 4 behaviours: 2 defects, 1 variant
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
  const where = { run: "runs/one", program: "touchstone" };
  const breach = breachOf("a used code is refused", "it gave an accessToken");

  it("shows a failure that recurred with its exchanges", () => {
    const result = resultOf("code.single-use", { kind: "failed", cases: 3, breach }, [exchanged(4)]);
    const text = render(replayDoc({ answer: "still fails", result }, where));
    expect(text).toMatch(/\n✗ code\.single-use: still fails\n$/);
    expect(text).toContain("#4  POST /open-api/oauth/access-token");
    expect(tooLong(text, 80)).toEqual([]);
  });

  it("is one line for a failure that is fixed", () => {
    const result = ruleThat.passed("code.single-use", 3);
    expect(render(replayDoc({ answer: "fixed", result }, where))).toBe("✓ code.single-use: fixed\n");
  });

  it("states why a rule could not be judged", () => {
    const result = ruleThat.couldNotRun("refresh.lifetime", "30 d are too long", "clock.advance");
    expect(render(replayDoc({ answer: "could not run", result }, where))).toBe(
      "– refresh.lifetime: could not run\n30 d are too long; clock.advance is missing\n",
    );
  });
});
