import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { given } from "../conformance/contract/given.ts";
import type { Output } from "./shared/output.ts";
import { serve, behaviours, defects, loadDefects } from "../fake-server/index.ts";
import { nearest } from "../conformance/contract/text.ts";
import { behavioursDoc, behavioursWith } from "../reports/document/commands.ts";
import type { serve as definition } from "./flags/services.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async ({ output, signal, interrupt }, flags) => {
  if (flags.list !== undefined) return listBehaviours(output, flags.list === true ? "" : flags.list);
  const removesProfile = flags.whileStdin === true;
  if (removesProfile)
    process.stdin
      .once("end", () => interrupt())
      .resume()
      .unref();
  const { port = 0, controlPort = 0, behaviour, writeProfile } = flags;
  await serve(
    {
      port,
      controlPort,
      behaviour,
      removesProfile,
      ...given({
        clockMode: flags.clock,
        limits: flags.delays === undefined ? undefined : { pushDelaysMs: flags.delays },
        clientsFile: flags.clients,
        seed: flags.seed,
        dataDirectory: flags.data,
        profileFile: writeProfile,
      }),
    },
    {
      signal,
      listening: (addresses) => {
        if (flags.json) return output.printJson(addresses);
        output.print(
          [
            `service  ${addresses.baseUrl}   (behaviour ${addresses.behaviour}, clock ${addresses.clockMode})`,
            `control  ${addresses.controlUrl}   (GET /clock, POST /clock/advance, POST /events, PUT /callback, GET /counters, POST /reset)`,
            ...addresses.clients.map(({ id, redirectUri }) => `client   ${id}   ${redirectUri}`),
            ...(writeProfile === undefined ? [] : [`profile  ${writeProfile}`]),
            "Press Ctrl-C to stop.",
          ].join("\n"),
        );
      },
    },
  );
};

const listBehaviours = async (output: Output, text: string): Promise<void> => {
  const broken = { ...defects, ...loadDefects };
  const all = Object.values(behaviours).map(({ name, summary }) => ({
    name,
    summary,
    kind: name === "sound" ? ("sound" as const) : name in broken ? ("defect" as const) : ("variant" as const),
    breaks: broken[name]?.breaks ?? [],
  }));
  const found = behavioursWith(all, text);
  if (found.length === 0)
    throw new ConfigurationError([
      `--list "${text}": no behaviour has this text in its name, summary or rules; similar names are ${nearest(text, Object.keys(behaviours)).join(", ")}`,
    ]);
  show(output, behavioursDoc(found), found);
};
