import { Command } from "@commander-js/extra-typings";

const collected = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

export const init = new Command("init")
  .description("write a commented profile from flags, and ask for what is missing")
  .option("--base-url <address>", "address of the service: the part before /open-api/")
  .option("--name <text>", "name of the service in reports")
  .option("--client-id <id>", "id of an OAuth client; repeat for a second one", collected)
  .option("--secret-env <name>", "environment variable that holds the client's secret", collected)
  .option("--redirect-uri <address>", "the client's redirectUri as registered", collected)
  .option(
    "--out <file>",
    "the profile, .ts, .mts or .json (default: touchstone.config with the ending that loads in this folder)",
  )
  .option("--yes", "take what is offered instead of asking, to be edited later")
  .option("--force", "overwrite an existing profile")
  .option(
    "--schema <file>",
    "write the JSON Schema of profiles there, for editors; alone, write nothing else",
  );
