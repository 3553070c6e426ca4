import type { RunRecord } from "../../conformance/contract/record.ts";
import { leftInShort, leftOn } from "../text/left-behind.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";

/** A line among the totals that says what stays on the target; nothing where nothing does. */
export const leftBehind = (
  record: RunRecord,
  page: Page,
): readonly (readonly [label: string, lines: readonly string[]])[] => {
  const text = leftInShort(record);
  return text === undefined
    ? []
    : [["Left", wrap(`${safe(text)} on the target (--verbose, reports)`, page.columns - 9)]];
};

/** All of it, sentence by sentence. */
export const leftBehindSection = (record: RunRecord, page: Page): string[] => {
  const sentences = leftOn(record);
  return sentences.length === 0
    ? []
    : [
        "",
        page.palette.bold("Left on the target: the document has no call that takes it back"),
        ...sentences.flatMap((one) => {
          const [first = "", ...rest] = wrap(safe(one), page.columns - 4);
          return [`  - ${first}`, ...indent(rest, 4)];
        }),
      ];
};
