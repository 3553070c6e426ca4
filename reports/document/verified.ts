import type { Verification } from "../read/index.ts";
import { plural } from "../text/figures.ts";
import { code, doc, lines, mark, tableSection, type Doc, type Look } from "./model.ts";

const looks: Readonly<Record<Verification["state"], Look>> = {
  intact: ["good", "check"],
  unsealed: ["open", "question"],
  altered: ["bad", "cross"],
};

export const verifiedDoc = (runs: readonly (Verification & { readonly run: string })[]): Doc => {
  const count = (state: Verification["state"]): number => runs.filter((one) => one.state === state).length;
  const worst = (["altered", "unsealed"] as const).find((state) => count(state) > 0) ?? "intact";
  return doc({
    title: "Verification of runs",
    look: looks[worst],
    headline:
      worst === "intact"
        ? `As sealed: ${plural(runs.length, "run")}.`
        : `${count("altered")} altered, ${count("unsealed")} never sealed, ${count("intact")} intact.`,
    sections: [
      tableSection(
        "runs",
        "Runs",
        ["Run", "Findings"],
        runs.map((one) => [mark(looks[one.state], code(one.run)), foundIn(one)]),
      ),
    ],
    source: runs.map(({ run }) => run).join(", "),
  });
};

const foundIn = (one: Verification) => {
  if (one.state === "intact") return `as sealed (${plural(one.files, "file")})`;
  if (one.state === "unsealed") return "never sealed, so nothing shows whether it is complete";
  return lines(
    "altered since it was sealed",
    ...one.alterations.map(({ file, change, detail }) => `${file}  ${change}: ${detail}`),
  );
};
