import type { DuetDocument } from "../duet/document.ts";
import type { Failures, MemberVerdict } from "../duet/model.ts";
import { percent } from "../text/figures.ts";
import { probability } from "./duet-cells.ts";
import { mark, table, type Look } from "./model.ts";

export const looks: Readonly<Record<MemberVerdict, Look>> = {
  regressed: ["bad", "cross"],
  improved: ["good", "check"],
  unchanged: ["good", "check"],
  inconclusive: ["open", "question"],
};

const sentences: Readonly<Record<MemberVerdict, string>> = {
  regressed: "b is slower than a.",
  improved: "b is faster than a.",
  unchanged: "b is as fast as a: any difference is too small to matter.",
  inconclusive: "This duet cannot tell whether b is slower.",
};

/** The worst verdict decides what is said, of speed if failures have the same. */
export const sentenceOf = ({ verdict, members, failures }: DuetDocument): string => {
  const isOfSpeed = members.some((member) => member.verdict === verdict);
  if (failures?.verdict !== verdict) return sentences[verdict];
  if (isOfSpeed && verdict === "regressed") return "b is slower than a, and fails more often.";
  return isOfSpeed ? sentences[verdict] : failureSentences[verdict];
};

const failureSentences: Readonly<Record<MemberVerdict, string>> = {
  regressed: "b fails more often than a.",
  improved: "b fails less often than a.",
  unchanged: sentences.unchanged,
  inconclusive: "This duet cannot tell whether b fails more often.",
};

export const failuresTable = ({ a, b, interval, adjustedP, floor, smallestDetectable, verdict }: Failures) =>
  table(
    "Shares of failed requests, of all endpoints together",
    [">a", ">b", ">95 % interval of b − a", ">p (Holm)", ">Matters from", ">Could see", "Verdict"],
    [
      [
        percent(a),
        percent(b),
        interval === undefined ? "unknown" : interval.map(percent).join(" to "),
        probability(adjustedP),
        percent(floor),
        smallestDetectable === undefined ? "nothing" : percent(smallestDetectable),
        mark(looks[verdict], verdict),
      ],
    ],
  );
