import { figure, runCli, seconds } from "../../conformance/testing/measure.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { documentOf, newClients, rulesOf, waitingRules, writeProfile } from "./judging.ts";
import { startNodeUnderFaketime, startPython, type RunningService } from "./services.ts";

const clients = newClients("https://client.example/callback");

const services: Readonly<Record<string, (folder: string) => Promise<RunningService>>> = {
  Python: (folder) => startPython("python3", "stored", { folder, clients }),
  Node: (folder) => startNodeUnderFaketime({ folder, clients }),
};

/** How long the rules take that wait on the clock of a service under libfaketime, but for those of pushes. */
export const faketime = async (): Promise<void> => {
  for (const [language, start] of Object.entries(services)) {
    using temporary = temporaryFolder();
    const folder = temporary.path;
    const service = await start(folder);
    await using ending = new AsyncDisposableStack();
    ending.defer(async () => void (await service.stop()));
    const { profile, env } = writeProfile(folder, language, clients, service);
    const flags = ["--profile", profile, "--only", waitingRules.join(","), "--json", "--seed", "11"];
    const ran = await runCli(["conform", ...flags, "--out", `${folder}/run`], { env });
    const of = rulesOf(documentOf(ran), "passed", "not-applicable");
    figure(
      `${language} under libfaketime: rules that wait and held, of ${waitingRules.length}; exit code`,
      `${of.length}; ${ran.exitCode}`,
      "all; 0",
    );
    figure(
      "  wall time; processor time of Touchstone",
      `${seconds(ran.wallMs)}; ${seconds(ran.cpuMs)}`,
      "60 s",
    );
  }
};
