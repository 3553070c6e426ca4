import { Command } from "@commander-js/extra-typings";
import { controlPortOption, jsonOption, portOption } from "../shared/flags.ts";

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
