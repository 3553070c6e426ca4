import { Command, Option } from "@commander-js/extra-typings";
import { availableParallelism } from "node:os";
import { efforts } from "../../conformance/checks/effort.ts";
import { groups, levels } from "../../conformance/contract/requirement.ts";
import { reportFormats } from "../../reports/formats.ts";
import {
  behaviourOption,
  fakeOption,
  choiceFlag,
  effortOption,
  integerFlag,
  jsonOption,
  listFlag,
  maxWaitOption,
  onlyOption,
  outOption,
  paceOption,
  profileOption,
  profileOptionOf,
  reportOption,
  reportOutOption,
  seedOption,
} from "../shared/flags.ts";

const ledgerKeyFileOption = new Option(
  "--ledger-key-file <file>",
  "file with the ledger's key, instead of TOUCHSTONE_LEDGER_KEY",
);

export const conform = new Command("conform")
  .description("judge a service by every rule; without a profile, the embedded fake")
  .addOption(profileOption)
  .addOption(fakeOption)
  .addOption(behaviourOption)
  .addOption(onlyOption)
  .option(
    "--section <names>",
    `judge only these groups (${groups.join(", ")}) or sections of the document (4.1, ...)`,
    listFlag,
  )
  .option(
    "--level <levels>",
    `judge only these levels: ${levels.join(", ")} (untestable requirements have no rule)`,
    listFlag,
  )
  .option("--strict", "fail the gate on breaches of advisory rules too")
  .addOption(effortOption)
  .addOption(seedOption)
  .addOption(maxWaitOption)
  .addOption(paceOption)
  .addOption(outOption)
  .option(
    "--ledger <file>",
    "store credentials that expire too late for this run, and judge those of earlier runs that are due",
  )
  .addOption(ledgerKeyFileOption)
  .addOption(reportOption("write reports of the run: ", reportFormats))
  .addOption(reportOutOption("the reports"))
  .addOption(jsonOption);

export const replay = new Command("replay")
  .arguments("<run> <rule>")
  .description("judge one rule of an earlier run again: still fails, fixed, or could not run")
  .addOption(profileOptionOf("another profile than that of the run; repeat to layer files"))
  .addOption(maxWaitOption)
  .addOption(jsonOption);

export const ledger = new Command("ledger")
  .arguments("<file>")
  .description(
    "list the entries of a ledger: when each is due, what was judged, and what expired without being judged",
  )
  .addOption(ledgerKeyFileOption)
  .addOption(jsonOption);

export const detect = new Command("detect")
  .description(
    "measure how many seeded defects the rules find, and count false alarms on conforming variants",
  )
  .option("--full", "judge every defect by every rule at standard effort, and list every rule that failed")
  .option("--behaviour <names>", "only these defects and variants", listFlag)
  .addOption(
    new Option("--effort <effort>", `${efforts.join(", ")} (default: quick, with --full standard)`).argParser(
      choiceFlag("--effort", efforts),
    ),
  )
  .addOption(seedOption)
  .option("--jobs <number>", "number of processes", integerFlag("--jobs", 1, 64), availableParallelism())
  .addOption(new Option("--shard <i/n>", "only the i-th of n parts, to divide the work among machines"))
  .addOption(
    new Option("--handed-out", "judge what the parent process hands out, for that process").hideHelp(),
  )
  .addOption(jsonOption);

export const rules = new Command("rules")
  .arguments("[id]")
  .description(
    "print the catalogue, or one requirement, how it is judged, and which seeded defects its rule must find",
  )
  .option("--openapi", "print the service's contract as an OpenAPI 3.1 document instead")
  .addOption(jsonOption);

const collected = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

export const init = new Command("init")
  .description("write a profile with comments from flags; what they leave out is to be filled in, and named")
  .option("--base-url <address>", "address of the service: the part before /open-api/")
  .option("--name <text>", "name of the service in reports")
  .option("--client-id <id>", "id of an OAuth client; repeat for a second one", collected)
  .option("--secret-env <name>", "environment variable that holds the client's secret", collected)
  .option("--redirect-uri <address>", "the client's redirectUri as registered", collected)
  .option(
    "--out <file>",
    "the file to write: .ts, .mts or .json (default: touchstone.config with the extension that loads in this folder)",
  )
  .option("--force", "overwrite an existing profile, or another file that --schema names")
  .option(
    "--schema <file>",
    "write the JSON Schema of profiles to this file, for editors; without other flags, write nothing else",
  );

export const doctor = new Command("doctor")
  .description("check everything a run depends on: profile, secrets, address, clients, hooks, receiver, k6")
  .addOption(profileOption)
  .addOption(fakeOption)
  .addOption(jsonOption);
