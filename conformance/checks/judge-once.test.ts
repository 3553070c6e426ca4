import { expect, it } from "vitest";
import { inconclusive, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { newLosses, type Loss, type Scope } from "../world/evidence/journal.ts";
import { newTally } from "./context.ts";
import { judgeOnce } from "./judge-once.ts";
import { contextOf } from "./testing/open-run.ts";

/** What one playing of a case misses, as paths, and how: "/a" or "/a /b". */
type Tries = readonly string[];

/** Plays a case whose tries miss these requests; the last one is repeated. */
const playing = async (
  tries: Tries,
  {
    reason = "closed",
    judgement = pass,
    isAnswered = true,
  }: { reason?: Loss["reason"]; judgement?: CaseVerdict; isAnswered?: boolean } = {},
) => {
  let played = 0;
  const inWorld = ({ losses }: Scope): Promise<CaseVerdict> => {
    const missing = tries[Math.min(played, tries.length - 1)] ?? "";
    played += 1;
    for (const path of ["/a", "/b"]) {
      const name = losses.begin({ method: "POST", path });
      if (missing.includes(path)) losses.note(name, { exchange: 1, reason });
    }
    return Promise.resolve(judgement);
  };
  const context = contextOf({ inWorld, recover: () => Promise.resolve(isAnswered) });
  const result = await judgeOnce(context, () => Promise.resolve(pass), newTally(), 0);
  return { played, verdict: result.judgement };
};

it.each<readonly [string, Tries, number, CaseVerdict["kind"]]>([
  ["stands at once if nothing is missing", [""], 1, "passed"],
  ["is played again until nothing is missing", ["/a", "/b", ""], 3, "passed"],
  ["stands if the same answer is missing each of four times", ["/a"], 4, "passed"],
  ["decides nothing if another is missing each time", ["/a", "/b"], 4, "inconclusive"],
  ["stands despite another that was missing before", ["/a", "/a /b", "/a"], 4, "passed"],
])("a case %s", async (_, tries, played, kind) => {
  expect(await playing(tries)).toMatchObject({ played, verdict: { kind } });
});

it("a case decides nothing if a plain request gets no answer either", async () => {
  const { verdict } = await playing(["/a"], { isAnswered: false });
  expect(verdict).toMatchObject({ kind: "inconclusive", reason: expect.stringContaining("/a") as string });
});

it.each([
  ["refused", "nothing listens"],
  ["throttled", "retry later"],
  ["locked", "locks clients out"],
] as const)("a case whose request was %s is not played again", async (reason, text) => {
  const { played, verdict } = await playing(["/a"], { reason, judgement: inconclusive("no answer") });
  expect(played).toBe(1);
  expect(verdict).toMatchObject({ kind: "inconclusive", reason: expect.stringContaining(text) as string });
});

it("a case counts only once clients are no longer locked out, and refused requests no longer spaced", async () => {
  const spacings = [
    { lockouts: 0, rests: 0 },
    { lockouts: 1, rests: 0 },
    { lockouts: 1, rests: 0 },
    { lockouts: 1, rests: 1 },
    { lockouts: 1, rests: 1 },
    { lockouts: 1, rests: 1 },
  ];
  const verdicts = [pass, inconclusive("too late"), pass];
  const context = contextOf({
    inWorld: () => Promise.resolve(verdicts.shift() ?? pass),
    spacing: () => spacings.shift() ?? { lockouts: 1, rests: 1 },
  });
  const { judgement } = await judgeOnce(context, () => Promise.resolve(pass), newTally(), 0);
  expect(judgement).toEqual(pass);
  expect(verdicts).toEqual([]);
});

it("requests are named by method, path and number, without their query", () => {
  const losses = newLosses();
  expect(["/a?x=1", "/a?x=2", "/b"].map((path) => losses.begin({ method: "GET", path }))).toEqual([
    "GET /a 1",
    "GET /a 2",
    "GET /b 1",
  ]);
});
