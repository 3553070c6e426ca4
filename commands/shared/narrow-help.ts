import { Help } from "@commander-js/extra-typings";

/** A column of descriptions narrower than this is harder to read than descriptions below their flags. */
const LEAST_COLUMN = 40;
const INDENT = " ".repeat(6);

/** Puts descriptions below their flags on a terminal that is too narrow for two columns. */
export const narrowHelp = {
  minWidthToWrap: 20,
  formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    const width = helper.helpWidth ?? 80;
    if (description === "" || width - termWidth - 4 >= LEAST_COLUMN)
      return new Help().formatItem.call(helper, term, termWidth, description, helper);
    const lines = helper.boxWrap(description, width - INDENT.length).split("\n");
    return [`  ${term}`, ...lines.map((line) => INDENT + line)].join("\n");
  },
};
