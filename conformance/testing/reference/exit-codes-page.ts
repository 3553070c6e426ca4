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
    "Exit codes and error messages",
    "Every exit code, and the error messages that go with exit codes 2 and 4; `…` stands for a variable part.",
    [
      table(["exit code", "meaning"], Object.entries(exitCodeMeanings)),
      "For loads, duets and comparisons, 1 also means that an objective was missed or a build became slower, and 3 that a load run is invalid. If several codes apply, the worst one is used: a breach outweighs what could not be judged.",
      "## Messages with exit code 2",
      'A wrong value gets a message of the form `KEY is "VALUE"; accepted is WHAT IS ACCEPTED; REMEDY`. Mistakes in a profile get similar messages: `KEY is VALUE; it must be …`, `KEY has the unknown key "…"; accepted are …`, `KEY lacks the key "…"`. For an unknown flag or command, the message comes from the argument parser and refers to `--help`. All other messages:',
      ...byPart([...profileRefusals(), ...refusalsBy("ConfigurationError", "WideFile")]),
      "## Messages with exit code 4",
      list(refusalsBy("UnreachableError")),
    ],
  );
