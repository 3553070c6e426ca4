import { Command, Option } from "@commander-js/extra-typings";
import {
  choiceFlag,
  controlPortOption,
  durationsFlag,
  jsonOption,
  portOption,
  seedOptionOf,
} from "../shared/flags.ts";

export const serve = new Command("serve")
  .description("run the fake service, sound or with a seeded defect")
  .addOption(portOption("port of the service"))
  .addOption(controlPortOption("port of the control interface"))
  .option("--behaviour <name>", "sound, a defect or a variant (--list prints all)", "sound")
  .option("--clients <file>", "JSON file with an array of { id, secret, redirectUri }")
  .addOption(seedOptionOf("seed of codes, tokens and ids (default: 1)"))
  .option(
    "--clock <mode>",
    "flowing (real time plus every advance), frozen, or real (the profile has no hook that moves it) (default: flowing, or the behaviour's own)",
    choiceFlag("--clock", ["flowing", "frozen", "real"] as const),
  )
  .option(
    "--delays <durations>",
    "delays of the retries of a failed push, such as 6s,12s,24s,48s; the profile names them too (default: the document's)",
    durationsFlag("--delays"),
  )
  .option("--data <directory>", "keep notifications and pending pushes in this folder across restarts")
  .option(
    "--write-profile <file>",
    "write a profile for `conform --profile`, with each client's secret in a file beside it (mode 600)",
  )
  .option(
    "--list [text]",
    "list all behaviours, or those whose name, summary or broken rules contain the text, and exit",
  )
  .addOption(new Option("--while-stdin", "exit when standard input ends, for a parent process").hideHelp())
  .addOption(jsonOption);

export const receive = new Command("receive")
  .description("run the instrumented receiver of webhook pushes")
  .addOption(portOption("port for pushes"))
  .addOption(controlPortOption("port of the control interface and the page"))
  .option(
    "--host <address>",
    "address to listen on (default: 127.0.0.1; 0.0.0.0 for all); unless it is a loopback address, the control interface requires a token, from --token-env or generated and printed",
  )
  .option(
    "--public-host <name>",
    "host name or address that senders use, for the callback URL and the certificate",
  )
  .option("--path <path>", "path of the callback (default: /service/webhook)")
  .option("--http", "plain HTTP instead of HTTPS")
  .option("--cert <file>", "your own certificate, in PEM; needs --key")
  .option("--key <file>", "its private key, in PEM")
  .option(
    "--certificate-folder <directory>",
    "folder for the generated authority and certificate, which are reused, so that senders need to trust them only once",
  )
  .option("--plan <file>", "JSON file that says how pushes are answered (default: acknowledge all)")
  .option("--journal <file>", "file in which pushes are recorded; a restart appends to it", "pushes.jsonl")
  .option("--page", "serve a page of the pushes")
  .option("--token-env <name>", "environment variable with the token of the control interface")
  .addOption(jsonOption);

export const shells = ["bash", "zsh", "fish"] as const;

export const completion = new Command("completion")
  .argument("<shell>", shells.join(", "), choiceFlag("the shell", shells))
  .description("print a script with which a shell completes commands and flags");

export const health = new Command("health")
  .arguments("<address>")
  .description(
    "exit with 0 if `serve` or `receive` answers at the address of its control interface; a health check for containers",
  );
