import { Command } from "@commander-js/extra-typings";
import type { CommandContext } from "./shared/context.ts";
import { controlPortOption, jsonOption, portOption } from "./shared/flags.ts";
import { given } from "./shared/given.ts";

export const receiveCommand = ({ output, environment, signal }: CommandContext) =>
  new Command("receive")
    .description("runs the instrumented receiver of webhook pushes by hand")
    .addOption(portOption("port that pushes go to"))
    .addOption(controlPortOption("port of the control interface and the page"))
    .option(
      "--host <address>",
      "address to listen on, this machine alone where left out; on any other (0.0.0.0 is every one) the control interface refuses who has not the token: --token-env names it, else one is made up and printed",
    )
    .option(
      "--public-host <name>",
      "name or address under which senders reach it, for the callback URL and the certificate",
    )
    .option("--path <path>", "path of the callback; /service/webhook where left out")
    .option("--http", "plain HTTP in the place of HTTPS")
    .option("--cert <file>", "certificate of your own, in PEM; needs --key")
    .option("--key <file>", "its private key, in PEM")
    .option(
      "--certificate-folder <directory>",
      "where the authority and certificate that it makes are kept, for senders to trust once",
    )
    .option(
      "--plan <file>",
      "JSON file that says how pushes are answered; all are acknowledged where left out",
    )
    .option("--journal <file>", "where pushes are kept, and continued after a restart", "pushes.jsonl")
    .option("--page", "serves a live page of the pushes")
    .option("--token-env <name>", "environment variable with the token of the control interface")
    .addOption(jsonOption)
    .action(async (flags) => {
      const { receive } = await import("../fake-server/receiver/index.ts");
      await receive(
        {
          port: flags.port ?? 0,
          controlPort: flags.controlPort ?? 0,
          http: flags.http === true,
          page: flags.page === true,
          journal: flags.journal,
          ...given({
            host: flags.host,
            publicHost: flags.publicHost,
            certificateFolder: flags.certificateFolder,
            path: flags.path,
            certFile: flags.cert,
            keyFile: flags.key,
            planFile: flags.plan,
            tokenEnv: flags.tokenEnv,
          }),
        },
        {
          signal,
          environment,
          trouble: (message) => output.complain(`touchstone: ${message}`),
          listening: (addresses) => {
            if (flags.json) return output.printJson(addresses);
            const { pageUrl, caFile, journal, token } = addresses;
            output.print(
              [
                `callback  ${addresses.callbackUrl}`,
                `control   ${addresses.controlUrl}   (GET /state, GET /pushes, PUT /plan, POST /listener, PUT /certificate)`,
                ...(pageUrl === undefined ? [] : [`page      ${pageUrl}`]),
                ...(caFile === undefined ? [] : [`authority ${caFile}   (senders have to trust it)`]),
                ...(journal === undefined ? [] : [`journal   ${journal}`]),
                ...(token === undefined ? [] : [`token     ${token}`]),
                "Ctrl-C ends it.",
              ].join("\n"),
            );
          },
        },
      );
    });
