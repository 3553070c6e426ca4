import { describe, expect, it } from "vitest";
import { campaignOf, senderOf } from "../testing/campaigns.ts";
import type { Campaign, SeenPush } from "./data.ts";
import { judgeHeadOfLine } from "./judge-receiver.ts";
import { judgeRetries } from "./judge-retries.ts";
import { observeSenderTimeout } from "./observe.ts";

/** A sender whose time-outs go by real time: what its pushes without an answer came to, on a clock that was moved meanwhile. */
const hung = (
  line: Partial<SeenPush["line"]>,
  more: { readonly retried: boolean; readonly besideAfterMs?: number },
): Campaign => {
  const campaign = campaignOf(senderOf("R1"), { hungInRealTime: true });
  return {
    ...campaign,
    specimens: campaign.specimens.map((specimen) => {
      if (specimen.purpose === "beside-hang" && more.besideAfterMs !== undefined) {
        const atMs = specimen.triggered.latestMs + more.besideAfterMs;
        return {
          ...specimen,
          pushes: specimen.pushes.map((push) => ({ ...push, at: { earliestMs: atMs, latestMs: atMs } })),
        };
      }
      if (specimen.purpose !== "hang") return specimen;
      const [first, ...later] = specimen.pushes;
      if (first === undefined) throw new Error("it was pushed");
      const changed = { ...first, line: { ...first.line, ...line } };
      return { ...specimen, pushes: more.retried ? [changed, ...later] : [changed] };
    }),
  };
};

describe("a sender whose time-out goes by real time while its clock is moved", () => {
  it("keeps its promise where it gave up in time and pushed again", () => {
    const campaign = hung({ outcome: "abandoned", firstByteMs: 0, answeredMs: 5_000 }, { retried: true });
    expect(judgeRetries(campaign).judgement.kind).toBe("held");
    expect(observeSenderTimeout(campaign)).toMatchObject({ seen: "about 5 s, in real time" });
  });

  it("breaks it where it gave up and did not push again", () => {
    const campaign = hung({ outcome: "abandoned", answeredMs: 5_000 }, { retried: false });
    expect(judgeRetries(campaign).judgement.kind).toBe("broke");
  });

  it.each([true, false])(
    "is left undecided where the receiver had to end the wait, retried: %j",
    (retried) => {
      const campaign = hung({ outcome: "closed" }, { retried });
      expect(judgeRetries(campaign)).toMatchObject({
        judgement: { kind: "undecided", reason: expect.stringContaining("real time") },
        settle: expect.stringContaining("hooks.clock.advance"),
      });
      expect(observeSenderTimeout(campaign)).toMatchObject({
        seen: "longer in real time than was waited for",
      });
    },
  );

  it("is not said to hold others up by as much as its clock was moved", () => {
    const late = hung({ outcome: "abandoned" }, { retried: true, besideAfterMs: 180_000 });
    expect(judgeHeadOfLine(late).judgement.kind).toBe("undecided");
    expect(judgeHeadOfLine({ ...late, hungInRealTime: false }).judgement.kind).toBe("broke");
  });
});
