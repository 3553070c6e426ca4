import { Command } from "@commander-js/extra-typings";

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
