import { exitCodeMeanings } from "../../contract/exit-codes.ts";
import { code, page, table } from "./markdown.ts";
import { profileRefusals, refusalsBy, type Refusal } from "./refusals.ts";

const titles: Readonly<Record<string, string>> = {
  commands: "Flags and their combinations",
  profile: "The profile",
  conformance: "Runs, the ledger, files",
  "fake-server": "The fake and the receiver",
  reports: "Runs that are read",
  scenarios: "Loads",
};

const list = (refusals: readonly Refusal[]): string =>
  refusals.map(({ message }) => `- ${code(message.replaceAll("`", "'"))}`).join("\n");

const byPart = (refusals: readonly Refusal[]): readonly string[] =>
  Object.entries(titles).flatMap(([part, title]) => {
    const of = refusals.filter((one) => one.part === part);
    return of.length === 0 ? [] : [`### ${title}`, list(of)];
  });

export const exitCodesPage = (): string =>
  page(
    "Exit codes and refusals",
    "Every exit code, and the messages with which a command refuses; `…` stands for what depends on the case.",
    [
      table(["exit code", "meaning"], Object.entries(exitCodeMeanings)),
      "Beyond the gate, 1 also says that an objective was missed or a build became slower, and 3 that a load run is invalid. If several apply, the worst one counts: a breach outweighs what could not be judged.",
      "## Refused with exit code 2",
      'A wrong value is refused by name: `KEY is "VALUE"; accepted is WHAT IS ACCEPTED; REMEDY`. The profile\'s schema is explained alike: `KEY is VALUE; it must be …`, `KEY has the unknown key "…"; accepted are …`, `KEY lacks the key "…"`. An unknown flag or command gets the parser\'s own message and a hint at `--help`. Beyond that:',
      ...byPart([...profileRefusals(), ...refusalsBy("ConfigurationError", "WideFile")]),
      "## Refused with exit code 4",
      list(refusalsBy("UnreachableError")),
    ],
  );
