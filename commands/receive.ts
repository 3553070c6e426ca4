import type { Action } from "./shared/context.ts";
import { given } from "../conformance/contract/given.ts";
import { receive } from "../fake-server/receiver/index.ts";
import type { receive as definition } from "./flags/services.ts";

export const run: Action<typeof definition> = async ({ output, environment, signal }, flags) => {
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
            ...(caFile === undefined ? [] : [`authority ${caFile}   (senders must trust it)`]),
            ...(journal === undefined ? [] : [`journal   ${journal}`]),
            ...(token === undefined ? [] : [`token     ${token}`]),
            "Press Ctrl-C to stop.",
          ].join("\n"),
        );
      },
    },
  );
};
