#!/usr/bin/env node
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { randomInt, randomUUID } from "node:crypto";
import { availableParallelism, hostname, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { Command, CommanderError, Option } from "@commander-js/extra-typings";
import type { ConformOptions } from "./conformance/conform.ts";
import type { Check } from "./conformance/contract/check.ts";
import type { DetectReport } from "./conformance/contract/detect.ts";
import { exitCodeMeanings, exitCodes } from "./conformance/contract/record.ts";
import { createSecrets } from "./conformance/contract/secrets.ts";
import {
  choiceFlag,
  dateFlag,
  durationFlag,
  integerFlag,
  listFlag,
  portFlag,
  seedFlag,
  shareFlag,
} from "./conformance/flags.ts";
import { concealResolved } from "./conformance/known-secrets.ts";
import { ConfigurationError, UnreachableError } from "./conformance/problem.ts";
import type { ReceiverSettings } from "./conformance/receiver-settings.ts";
import type { Rule } from "./conformance/rule.ts";
import { heapTrimmer, runOnBroughtNode } from "./conformance/runtime.ts";
import { tool } from "./conformance/tool.ts";
import { wantsColour } from "./reports/terminal/palette.ts";
import type { LiveSecond } from "./reports/terminal/load-live.ts";
import type { ReportFormat } from "./reports/write.ts";
import type { AskedRun, FoundK6, LoadContext } from "./scenarios/runner/index.ts";

/*
 * The command table: parses, composes the four parts, sets the exit code. The parts are
 * loaded by the command that needs them, so that this file also starts on an older Node.
 */

const interrupt = new AbortController();
const io = {
  quiet: false,
  color: wantsColour(process.env, process.stdout),
  json: false,
};

/** What nobody may see: `lasting` is never printed at all; errors, which may quote anything, hold no credential that was met either. */
const lasting = createSecrets();
const met = createSecrets();
const knowing = <T extends Parameters<typeof concealResolved>[1]>(resolved: T): T => {
  for (const secrets of [lasting, met]) concealResolved(secrets, resolved);
  return resolved;
};
const ended = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);
const print = (text: string): void => void process.stdout.write(ended(lasting.mask(text)));
const say = (text: string): void => void (io.quiet || process.stderr.write(ended(lasting.mask(text))));
const complain = (text: string): void => void process.stderr.write(ended(met.mask(text)));
/** How a user calls this program: by the script of a checkout, or by its own name. */
const programName = ["touchstone", "start"].includes(process.env["npm_lifecycle_event"] ?? "")
  ? "npm run --silent touchstone --"
  : "touchstone";
const printJson = (value: unknown): void => print(JSON.stringify(value, undefined, 2));

const page = async () => {
  const { default: colors } = await import("picocolors");
  return { palette: colors.createColors(io.color && !io.json), columns: process.stdout.columns ?? 100 };
};

/** The target of a run: the embedded fake, or the service that a profile describes. */
const openTarget = async (options: {
  profile?: readonly string[] | undefined;
  behaviour?: string | undefined;
  /** How long the embedded fake awaits pushes that do not move, in milliseconds. */
  patienceMs?: number;
}) => {
  const { checkProfile, loadProfile, resolveProfile } = await import("./conformance/profile.ts");
  if (options.profile !== undefined) {
    if (options.behaviour !== undefined)
      throw new ConfigurationError([
        "--behaviour is for the embedded fake; leave it out where --profile names a service",
      ]);
    return { resolved: knowing(await loadProfile(options.profile, process.env)), stop: async () => {} };
  }
  // A profile is never taken because it lies about: whoever runs this in a project may not mean its service.
  if (options.behaviour === undefined && existsSync("touchstone.config.ts"))
    say("touchstone.config.ts is here and is not used; --profile touchstone.config.ts judges its service.");
  const { startFakeServer, profileOf, secretsOf, UnknownBehaviour } = await import("./fake-server/index.ts");
  const behaviour = options.behaviour ?? "sound";
  const { patienceMs } = options;
  const fake = await (async () =>
    startFakeServer({ behaviour, ...(patienceMs === undefined ? {} : { patienceMs }) }))().catch(
    (error: unknown) => {
      throw error instanceof UnknownBehaviour
        ? new ConfigurationError([`--behaviour: ${error.message}`])
        : error;
    },
  );
  return {
    resolved: knowing(await resolveProfile(checkProfile(profileOf(fake)), secretsOf(fake))),
    behaviour,
    stop: fake.stop,
  };
};

/** The target together with a receiver of pushes, where one of these rules judges pushes: the profile's, or one that is started here. */
const withReceiver = async <T extends Awaited<ReturnType<typeof openTarget>>>(
  opening: Promise<T>,
  rules: readonly Rule[],
) => {
  const target = await opening;
  const { hooks } = target.resolved.profile;
  const { watchesPushes } = await import("./conformance/conform.ts");
  if (!rules.some(watchesPushes) || hooks?.callback === undefined || hooks.events === undefined)
    return { ...target, receiver: undefined };
  const asked: ReceiverSettings = target.resolved.receiver ?? { kind: "listen" };
  if (asked.kind === "attach") return { ...target, receiver: asked };
  try {
    const { startReceiver } = await import("./fake-server/receiver/index.ts");
    const receiver = await startReceiver(asked);
    return {
      ...target,
      receiver,
      // The service first: what it has still to push would only meet a closed door.
      stop: async () => {
        await target.stop();
        await receiver.stop();
      },
    };
  } catch (error) {
    await target.stop();
    throw error;
  }
};

interface GateFlags {
  readonly profile?: readonly string[] | undefined;
  readonly behaviour?: string | undefined;
  readonly only?: string[] | undefined;
  readonly section?: string[] | undefined;
  readonly level?: string[] | undefined;
  readonly strict?: true | undefined;
  readonly effort: "quick" | "standard" | "thorough";
  readonly seed?: number | undefined;
  readonly maxWait: number;
  readonly out?: string | undefined;
  readonly ledger?: string | undefined;
  readonly ledgerKeyFile?: string | undefined;
  readonly resume?: string | undefined;
}

/** The flags of an interrupted run that is to be continued, and what had settled in it. */
const resumeFlags = async (options: GateFlags) => {
  const { resume } = options;
  if (resume === undefined) return { flags: options };
  const given = (["only", "section", "level", "behaviour", "seed", "strict"] as const).filter(
    (name) => options[name] !== undefined,
  );
  if (given.length > 0)
    throw new ConfigurationError([
      `--resume ${resume} goes on as that run began; leave out ${given.map((name) => `--${name}`).join(", ")}`,
    ]);
  const { readGateRun } = await import("./reports/read/index.ts");
  const { rules } = await import("./conformance/rules/index.ts");
  const { resumed } = await import("./conformance/resume.ts");
  const { record } = await readGateRun(resume);
  const flags: GateFlags = {
    ...options,
    profile:
      options.profile ?? (record.target.profiles.length === 0 ? undefined : [...record.target.profiles]),
    behaviour: options.profile === undefined ? record.target.behaviour : undefined,
    effort: choiceFlag("effort of the run", ["quick", "standard", "thorough"] as const)(record.effort),
    seed: record.seed,
    strict: record.strict ? true : undefined,
  };
  return { flags, resume: { run: resume, ...resumed(record, resume, rules) } };
};

/** The ledger that the flags name; nothing where they name none. */
const openLedgerOf = async ({ ledger, ledgerKeyFile }: GateFlags) => {
  if (ledger === undefined && ledgerKeyFile !== undefined)
    throw new ConfigurationError(["--ledger-key-file is for --ledger <file>, which is missing"]);
  if (ledger === undefined) return undefined;
  const { ledgerFromFlags } = await import("./conformance/ledger/open.ts");
  return { ledger: ledgerFromFlags(ledger, ledgerKeyFile, process.env), hereMs: () => Date.now() };
};

/** Runs the gate against the target that the options name, and leaves its record. */
const runGate = async (given: GateFlags) => {
  const { flags: options, resume } = await resumeFlags(given);
  const { rules } = await import("./conformance/rules/index.ts");
  const { selectRules } = await import("./conformance/selection.ts");
  const selected =
    resume?.rules ??
    selectRules(rules, { only: options.only, sections: options.section, levels: options.level });
  const ledger = await openLedgerOf(options);
  const target = await withReceiver(openTarget(options), selected);
  try {
    const { recordedRun } = await import("./conformance/recorded-run.ts");
    recording = true;
    const trimming = setInterval(heapTrimmer(), 100);
    const live = await startProgress(selected.map((rule) => rule.requirement));
    return await recordedRun({
      ...target,
      rules: selected,
      ...(resume === undefined ? {} : { earlier: resume.earlier, resumes: resume.run }),
      effort: options.effort,
      seed: options.seed ?? randomInt(2 ** 31),
      strict: options.strict === true,
      maxWaitMs: options.maxWait,
      out: options.out,
      ledger,
      secrets: met,
      signal: interrupt.signal,
      freshUuid: randomUUID,
      onRunning: live.running,
      onResult: live.result,
    }).finally(() => {
      clearInterval(trimming);
      live.stop();
    });
  } finally {
    ledger?.ledger.close();
    await target.stop();
  }
};

interface ReportFlags {
  readonly report?: ReportFormat[] | undefined;
  readonly reportOut?: string | undefined;
}

/** Writes the reports that were asked for, and tells the CI service that runs this what broke. */
const reportOn = async (
  directories: readonly string[],
  { report = [], reportOut }: ReportFlags,
  pinned: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> => {
  const { readRun } = await import("./reports/read/index.ts");
  const { ciRunsOf, writeReports } = await import("./reports/write.ts");
  const { annotationsOf } = await import("./reports/annotations/annotations.ts");
  const isCi = (process.env["CI"] ?? "") !== "";
  if (report.length === 0 && !isCi) return [];
  const runs = [];
  for (const directory of directories) runs.push(await readRun(directory));
  for (const line of annotationsOf(ciRunsOf(runs, pinned), process.env, { program: programName }))
    if (!io.json) print(line);
  if (report.length === 0) return [];
  const out = reportOut ?? `${directories[0]}-report`;
  const files = await writeReports(runs, { formats: report, out, program: programName, pinned });
  return files;
};

/** No behaviour of the fake that conforms takes longer to list a new notification. */
const FAKE_VISIBILITY_MS = 2_500;

/** The target of a load run: the fake has a process of its own there, so that it takes no time from the collector. */
const openLoadTarget = async (options: {
  profile?: readonly string[] | undefined;
  behaviour?: string | undefined;
}) => {
  if (options.profile !== undefined) return openTarget(options);
  const { startFakeProcess } = await import("./fake-server/index.ts");
  const { loadProfile } = await import("./conformance/profile.ts");
  const behaviour = options.behaviour ?? "sound";
  const program = [process.execPath, fileURLToPath(import.meta.url)] as const;
  const fake = await startFakeProcess([...program], behaviour);
  const resolved = knowing(await loadProfile(fake.profileFile, process.env));
  // What is lost shows in a load of seconds only where it need not be waited for much longer.
  const tolerances = { visibilityMs: FAKE_VISIBILITY_MS, ...resolved.profile.tolerances };
  const profile = { ...resolved.profile, tolerances };
  return { resolved: { ...resolved, profile, source: undefined, sources: [] }, behaviour, stop: fake.stop };
};

type LoadTargetFlags = {
  readonly profile?: readonly string[] | undefined;
  readonly behaviour?: string | undefined;
};

/** A target as load runs take it, with everything that was opened for it. */
const openLoad = async (
  options: LoadTargetFlags & { readonly maxWait: number },
  withPushes: boolean,
  k6: FoundK6,
  live: Pick<Awaited<ReturnType<typeof startLoadLive>>, "second" | "phase">,
) => {
  const { runnerClock } = await import("./scenarios/runner/index.ts");
  const { limitsOf } = await import("./conformance/session.ts");
  const { replacedLimits } = await import("./conformance/conform.ts");
  const { openPushPorts } = await import("./conformance/push-ports.ts");
  const { rules } = await import("./conformance/rules/index.ts");
  const { sweepTemporary } = await import("./conformance/sweep.ts");
  sweepTemporary(tmpdir(), hostname());
  const target = await withReceiver(openLoadTarget(options), withPushes ? rules : []);
  const { resolved } = target;
  const { profile } = resolved;
  const { loadEnvironment } = await import("./conformance/profile-load.ts");
  let environment: NodeJS.ProcessEnv;
  try {
    environment = loadEnvironment(profile, process.env);
  } catch (error) {
    await target.stop();
    throw error;
  }
  const push =
    target.receiver === undefined
      ? undefined
      : openPushPorts(resolved, target.receiver, {
          maxWaitMs: options.maxWait,
          signal: interrupt.signal,
          freshUuid: randomUUID,
        });
  const context: LoadContext = {
    target: {
      name: profile.name ?? new URL(profile.baseUrl).host,
      profile,
      clients: resolved.clients,
      profiles: resolved.sources,
      behaviour: "behaviour" in target ? target.behaviour : undefined,
      limits: limitsOf(resolved),
      replacedLimits: replacedLimits(resolved),
    },
    k6,
    environment,
    clock: runnerClock,
    signal: interrupt.signal,
    tool: tool.version,
    runKey: randomUUID(),
    push,
    onSecond: live.second,
    onPhase: live.phase,
  };
  return {
    context,
    stop: async () => {
      await push?.close();
      await target.stop();
    },
  };
};

const k6ForLoad = async (): Promise<FoundK6> => {
  const { findK6, runnerClock } = await import("./scenarios/runner/index.ts");
  return findK6({ environment: process.env, clock: runnerClock, onProgress: say, signal: interrupt.signal });
};

/** Runs a load against the target that the options name, and leaves its record. */
const runLoad = async (
  options: LoadTargetFlags & { readonly out?: string | undefined; readonly maxWait: number },
  asked: AskedRun,
  getK6: Promise<FoundK6> = k6ForLoad(),
) => {
  const { loadByShape, runnerClock } = await import("./scenarios/runner/index.ts");
  const { runDirectory } = await import("./conformance/recorded-run.ts");
  const live = await startLoadLive(asked.durationMs);
  const opened = await openLoad(options, asked.scenario === "push", await getK6, live);
  try {
    recording = true;
    const directory = options.out ?? runDirectory(runnerClock.wallTime(), "load", randomUUID);
    return { record: await loadByShape(opened.context, asked, directory), directory };
  } finally {
    live.stop();
    await opened.stop();
  }
};

/** The live view of a load run: two lines rewritten on a terminal, a plain line now and then elsewhere. */
const startLoadLive = async (durationMs: number) => {
  const { createLoadLive } = await import("./reports/terminal/load-live.ts");
  const seconds: LiveSecond[] = [];
  let now: string | undefined;
  const { palette } = await page();
  const live = createLoadLive(process.stderr, { palette, columns: process.stderr.columns ?? 100 });
  const show = (): void => {
    if (!io.quiet && !io.json) live.show({ seconds, durationMs, phase: now });
  };
  return {
    second: (second: LiveSecond) => {
      seconds.push(second);
      show();
    },
    phase: (phase: string | undefined) => {
      now = phase;
      show();
    },
    stop: () => live.clear(),
  };
};

/** The live line of a run: rewritten as rules settle and while they wait; nothing where standard error is no terminal. */
const startProgress = async (ids: readonly string[]) => {
  const { afterResult, createProgress, progressAtStart } = await import("./reports/terminal/progress.ts");
  const { palette } = await page();
  const startedMs = performance.now();
  let state = progressAtStart(ids);
  let waiting: () => typeof state.waiting = () => undefined;
  if (io.quiet || io.json) return { running: () => {}, result: () => {}, stop: () => {} };
  const line = createProgress(process.stderr, palette);
  const show = (): void => {
    const now = waiting();
    line.show({
      ...state,
      elapsedMs: performance.now() - startedMs,
      ...(now === undefined ? {} : { waiting: now }),
    });
  };
  const timer = setInterval(show, 200);
  return {
    running: ({ clocks }: Parameters<NonNullable<ConformOptions["onRunning"]>>[0]) => {
      waiting = () => clocks.waiting();
    },
    result: (result: Parameters<NonNullable<ConformOptions["onResult"]>>[0]) => {
      state = afterResult(state, result);
      show();
    },
    stop: () => {
      clearInterval(timer);
      line.clear();
    },
  };
};

const program = new Command("touchstone")
  .description("Says whether a service keeps the promises of its document.")
  .version(tool.version)
  .option("--no-color", "no colours")
  .option("-q, --quiet", "failures and totals only; no progress")
  .helpCommand(false)
  .addHelpText(
    "after",
    () =>
      `\nExit codes:\n${Object.entries(exitCodeMeanings)
        .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}\n`)
        .join("")}`,
  )
  .hook("preAction", (root, command) => {
    const all = command.optsWithGlobals() as { quiet?: boolean; color?: boolean; json?: boolean };
    io.quiet = all.quiet === true;
    io.json = all.json === true;
    io.color &&= all.color !== false;
  });

const profileOption = new Option(
  "-p, --profile <file>",
  "the target's profile (.ts, .js or .json); given again, a file that is laid over the ones before; the embedded fake where left out",
).argParser((file: string, earlier: readonly string[] | undefined): readonly string[] => [
  ...(earlier ?? []),
  file,
]);
const maxWaitOption = new Option(
  "--max-wait <duration>",
  "longest single wait where the target's clock cannot be moved",
)
  .default(20 * 60_000, "20m")
  .argParser(durationFlag("--max-wait"));
const reportFlag = (text: string, earlier: readonly ReportFormat[] = []): ReportFormat[] => [
  ...earlier,
  ...listFlag(text).map(choiceFlag("--report", ["html", "junit", "ctrf", "markdown"] as const)),
];
const jsonOption = new Option("--json", "one JSON document on standard output");
const seedOption = new Option(
  "--seed <number>",
  "seed of all generated values; random where left out",
).argParser(seedFlag);
const effortOption = (usual: "quick" | "standard") =>
  new Option("--effort <effort>", "how many cases each rule judges: quick, standard or thorough")
    .default(usual)
    .argParser(choiceFlag("--effort", ["quick", "standard", "thorough"] as const));

program
  .command("conform")
  .description("judges a service by every rule; without a profile, the embedded fake")
  .addOption(profileOption)
  .option("--behaviour <name>", "behaviour of the embedded fake (`sound` where left out)")
  .option("--only <ids>", "judges these rules alone, separated by commas", listFlag)
  .option(
    "--section <names>",
    "judges these groups (code, refresh, ...) or sections of the document (4.1, ...)",
    listFlag,
  )
  .option(
    "--level <levels>",
    "judges these levels: required, derived, advisory, unspecified (untestable statements have no rule)",
    listFlag,
  )
  .option("--strict", "lets breaches of advisory rules fail the gate")
  .addOption(effortOption("standard"))
  .addOption(seedOption)
  .addOption(maxWaitOption)
  .option("--out <directory>", "the run directory; a new one under runs/ where left out")
  .option(
    "--ledger <file>",
    "keeps credentials that cannot be waited for, and judges those of earlier runs that are due",
  )
  .option("--resume <run>", "continues a run that was interrupted or killed: what had settled is taken over")
  .option("--ledger-key-file <file>", "file with the ledger's key, in the place of TOUCHSTONE_LEDGER_KEY")
  .option("--verbose", "prints every rule, every observation and all that was measured")
  .option(
    "--report <formats>",
    "writes reports of the run: html, junit, ctrf, markdown, separated by commas",
    reportFlag,
  )
  .option("--report-out <directory>", "where reports go; a folder beside the run directory where left out")
  .addOption(jsonOption)
  .action(async (options) => {
    if (options.verbose === true && io.quiet)
      throw new ConfigurationError(["--verbose and --quiet ask for opposite things; leave one of them out"]);
    const { record, directory, pinned } = await runGate(options);
    const { conformDocument } = await import("./reports/json/conform.ts");
    const { renderConform } = await import("./reports/terminal/conform.ts");
    if (options.json) printJson(conformDocument(record, directory));
    else
      print(
        renderConform(record, {
          ...(await page()),
          run: directory,
          pinned,
          quiet: io.quiet,
          verbose: options.verbose === true,
          program: programName,
        }),
      );
    for (const file of await reportOn([directory], options, pinned)) say(`Report   ${file}`);
    process.exitCode = record.exitCode ?? exitCodes["harness-error"];
  });

program
  .command("replay <run> <rule>")
  .description("judges one rule of an earlier run again: still fails, fixed, or could not run")
  .addOption(profileOption)
  .addOption(maxWaitOption)
  .addOption(jsonOption)
  .action(async (run, rule, options) => {
    const { readGateRun } = await import("./reports/read/index.ts");
    const { replay, replayable } = await import("./conformance/replay.ts");
    const { record } = await readGateRun(run);
    const earlier = replayable(record, rule);
    const target = await withReceiver(
      openTarget({
        profile: options.profile ?? (record.target.profiles.length > 0 ? record.target.profiles : undefined),
        behaviour: options.profile === undefined ? record.target.behaviour : undefined,
      }),
      [earlier.rule],
    );
    try {
      const base: Omit<ConformOptions, "rules" | "path"> = {
        resolved: target.resolved,
        receiver: target.receiver,
        effort: choiceFlag("effort of the run", ["quick", "standard", "thorough"] as const)(record.effort),
        seed: record.seed,
        strict: record.strict,
        maxWaitMs: options.maxWait,
        secrets: met,
        signal: interrupt.signal,
        freshUuid: randomUUID,
      };
      const answer = await replay(earlier, base);
      const { renderReplay } = await import("./reports/terminal/replay.ts");
      if (options.json) printJson(answer);
      else print(renderReplay(answer, { ...(await page()), run }));
      process.exitCode = {
        "still fails": exitCodes.failed,
        fixed: exitCodes.passed,
        "could not run": exitCodes.incomplete,
      }[answer.answer];
    } finally {
      await target.stop();
    }
  });

const collected = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

program
  .command("init")
  .description("asks for, or takes by flags, what a profile needs, and writes it with comments")
  .option("--base-url <address>", "address of the service, what stands before /open-api/")
  .option("--name <text>", "how reports call the service")
  .option("--client-id <id>", "id of an OAuth client; given again for a second one", collected)
  .option("--secret-env <name>", "environment variable that holds the client's secret", collected)
  .option("--redirect-uri <address>", "the client's redirectUri, as it was registered", collected)
  .option("--out <file>", "the profile, .ts or .json", "touchstone.config.ts")
  .option("--force", "replaces a profile that is there")
  .option("--schema <file>", "writes the JSON Schema of profiles there, for editors; alone, nothing else")
  .action(async (options) => {
    const { checkFile, gatherAnswers, writeProfile, writeSchema } = await import("./conformance/init.ts");
    const { schema: schemaFile, out: file } = options;
    const isSchemaAlone =
      schemaFile !== undefined && options.baseUrl === undefined && options.clientId === undefined;
    if (!isSchemaAlone) {
      checkFile({ file, force: options.force === true });
      const asking = await startAsking();
      const answers = await gatherAnswers(options, asking?.ask).finally(() => asking?.stop());
      const importFrom = await profileModule(file);
      writeProfile(answers, { file, force: options.force === true, importFrom, schemaFile });
      const names = answers.clients.map(({ secretEnv }) => secretEnv).join(", ");
      say(`Set ${names}, then: ${programName} doctor --profile ${file}`);
      print(file);
    }
    if (schemaFile === undefined) return;
    writeSchema(schemaFile);
    print(schemaFile);
  });

/** Questions on a terminal; undefined where nobody sits at one. */
const startAsking = async () => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return {
    ask: async (question: string, offered?: string): Promise<string> => {
      const shown = offered === undefined ? question : `${question} (${offered})`;
      const answer = await lines
        .question(`${shown}: `, { signal: interrupt.signal })
        .catch((error: unknown) => {
          // Ctrl-C and Ctrl-D end the questions, and with them the command.
          if (isNamed(error, ["AbortError"])) interrupt.abort();
          throw error;
        });
      return answer.trim() === "" ? (offered ?? "") : answer.trim();
    },
    stop: () => lines.close(),
  };
};

/** Where a profile imports defineProfile from: the sources in a checkout, else the package. */
const profileModule = async (file: string): Promise<string> => {
  const self = fileURLToPath(import.meta.url);
  if (!self.endsWith(".ts")) return tool.name;
  const { default: path } = await import("node:path");
  const sources = path.join(path.dirname(self), "conformance/contract/profile.ts");
  const relative = path.relative(path.dirname(path.resolve(file)), sources);
  return relative.startsWith(".") ? relative : `./${relative}`;
};

program
  .command("doctor")
  .description(
    "looks at everything that a run rests on: profile, secrets, address, clients, hooks, receiver, k6",
  )
  .addOption(profileOption)
  .addOption(jsonOption)
  .action(async (options) => {
    const checks = [...(await diagnose(options)), await checkK6()];
    const { renderDoctor } = await import("./reports/terminal/doctor.ts");
    if (options.json) printJson({ checks });
    else print(renderDoctor(checks, await page()));
    const fatal = checks.find((check) => check.fatal !== undefined)?.fatal;
    if (fatal !== undefined) process.exitCode = exitCodes[fatal === "unreachable" ? "unreachable" : "usage"];
    else if (checks.some(({ ok }) => ok === false)) process.exitCode = exitCodes.incomplete;
  });

/** Everything about the profile and its service; a profile that cannot be used is all there is to say. */
const diagnose = async (options: { profile?: readonly string[] | undefined }): Promise<readonly Check[]> => {
  const { profileChecks, profileMistakes } = await import("./conformance/doctor.ts");
  const { rules } = await import("./conformance/rules/index.ts");
  const { examine } = await import("./conformance/conform.ts");
  let target;
  try {
    target = await withReceiver(openTarget(options), rules);
  } catch (error) {
    if (error instanceof ConfigurationError) return profileMistakes(error);
    throw error;
  }
  try {
    const today = new Date().toISOString().slice(0, 10);
    return [
      ...profileChecks(target.resolved, process.env, today),
      ...(await examine(target.resolved, {
        receiver: target.receiver,
        maxWaitMs: 0,
        secrets: met,
        signal: interrupt.signal,
        freshUuid: randomUUID,
      })),
    ];
  } finally {
    await target.stop();
  }
};

/** Whether a load run would find its k6; the gate needs none. */
const checkK6 = async (): Promise<Check> => {
  const { k6Status } = await import("./scenarios/runner/index.ts");
  try {
    const status = await k6Status({ environment: process.env, signal: interrupt.signal });
    return status.found === undefined
      ? { check: "k6", ok: "skipped", message: `none is here: ${status.plan}` }
      : { check: "k6", ok: true, message: `${status.found.version} at ${status.found.path}` };
  } catch (error) {
    if (!isNamed(error, ["InvalidLoad"])) throw error;
    return {
      check: "k6",
      ok: false,
      message: error.message,
      remedy: "mend it, or leave TOUCHSTONE_K6 unset",
    };
  }
};

program
  .command("rules [id]")
  .description("prints the catalogue, or one requirement with how it is judged and which defects it kills")
  .addOption(jsonOption)
  .action(async (id, options) => {
    const { isRequirementId, requirementIds } = await import("./conformance/contract/catalogue.ts");
    const { nearest } = await import("./conformance/contract/nearest.ts");
    const { defects } = await import("./fake-server/index.ts");
    const { rulesDocument } = await import("./reports/json/rules.ts");
    const { renderCatalogue, renderRule } = await import("./reports/terminal/rules.ts");
    const killing = (rule: string) =>
      Object.entries(defects).flatMap(([name, { summary, breaks }]) =>
        breaks.some((broken) => broken === rule) ? [{ name, summary }] : [],
      );
    const namesOf = (rule: string) => killing(rule).map(({ name }) => name);
    if (id === undefined) {
      if (options.json) printJson(rulesDocument(namesOf));
      else print(renderCatalogue(await page()));
      return;
    }
    if (!isRequirementId(id))
      throw new ConfigurationError([
        `rule "${id}": no such id; near it are ${nearest(id, requirementIds).join(", ")}`,
      ]);
    if (options.json) printJson(rulesDocument(namesOf, [id])[0]);
    else print(renderRule(id, killing(id), await page()));
  });

program
  .command("serve")
  .description("runs the fake service by hand, sound or with a seeded defect")
  .option("--port <number>", "port of the service; any free one where left out", portFlag("--port"))
  .option(
    "--control-port <number>",
    "port of the control interface; any free one where left out",
    portFlag("--control-port"),
  )
  .option("--behaviour <name>", "sound, a defect or a variant (--list prints all)", "sound")
  .option("--clients <file>", "JSON file with an array of { id, secret, redirectUri }")
  .addOption(seedOption)
  .option(
    "--clock <mode>",
    "flowing (real time, and what is advanced) or frozen",
    choiceFlag("--clock", ["flowing", "frozen"] as const),
    "flowing" as const,
  )
  .option("--data <directory>", "keeps notifications and pending pushes there, over a restart")
  .option(
    "--write-profile <file>",
    "writes a profile for `conform --profile`, with the secrets in a file beside it (mode 600)",
  )
  .option(
    "--list [text]",
    "prints the behaviours, all or those that have the text in their name, summary or broken rules, and ends",
  )
  .addOption(new Option("--while-stdin", "ends with its standard input, for whoever starts it").hideHelp())
  .addOption(jsonOption)
  .action(async (options) => {
    const { serve } = await import("./fake-server/index.ts");
    if (options.list !== undefined) {
      await listBehaviours(options.list === true ? "" : options.list);
      return;
    }
    if (options.whileStdin === true)
      process.stdin
        .once("end", () => interrupt.abort())
        .resume()
        .unref();
    await serve(
      {
        port: options.port ?? 0,
        controlPort: options.controlPort ?? 0,
        behaviour: options.behaviour,
        clockMode: options.clock,
        ...(options.clients === undefined ? {} : { clientsFile: options.clients }),
        ...(options.seed === undefined ? {} : { seed: options.seed }),
        ...(options.data === undefined ? {} : { dataDirectory: options.data }),
        ...(options.writeProfile === undefined ? {} : { profileFile: options.writeProfile }),
        removesProfile: options.whileStdin === true,
      },
      {
        signal: interrupt.signal,
        listening: (addresses) => {
          if (options.json) printJson(addresses);
          else
            print(
              [
                `service  ${addresses.baseUrl}   (behaviour ${addresses.behaviour}, clock ${options.clock})`,
                `control  ${addresses.controlUrl}   (GET /clock, POST /clock/advance, POST /events, PUT /callback, GET /counters, POST /reset)`,
                ...addresses.clients.map(({ id, redirectUri }) => `client   ${id}   ${redirectUri}`),
                ...(options.writeProfile === undefined ? [] : [`profile  ${options.writeProfile}`]),
                "Ctrl-C ends it.",
              ].join("\n"),
            );
        },
      },
    );
  });

/** Prints the behaviours of the fake that hold a text. */
const listBehaviours = async (text: string): Promise<void> => {
  const { behaviours, defects, variants } = await import("./fake-server/index.ts");
  const { nearest } = await import("./conformance/contract/nearest.ts");
  const { behavioursWith, renderBehaviours } = await import("./reports/terminal/behaviours.ts");
  const all = Object.values(behaviours).map(({ name, summary }) => ({
    name,
    summary,
    kind:
      name in defects ? ("defect" as const) : name in variants ? ("variant" as const) : ("sound" as const),
    breaks: defects[name]?.breaks ?? [],
  }));
  const found = behavioursWith(all, text);
  if (found.length === 0)
    throw new ConfigurationError([
      `--list "${text}": no behaviour has that in its name, summary or rules; near it are ${nearest(text, Object.keys(behaviours)).join(", ")}`,
    ]);
  if (io.json) printJson(found);
  else print(renderBehaviours(found, await page()));
};

program
  .command("receive")
  .description("runs the instrumented receiver of webhook pushes by hand")
  .option("--port <number>", "port that pushes go to; any free one where left out", portFlag("--port"))
  .option(
    "--control-port <number>",
    "port of the control interface and the page; any free one where left out",
    portFlag("--control-port"),
  )
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
  .option("--plan <file>", "JSON file that says how pushes are answered; all are acknowledged where left out")
  .option("--journal <file>", "where pushes are kept, and continued after a restart", "pushes.jsonl")
  .option("--page", "serves a live page of the pushes")
  .option("--token-env <name>", "environment variable with the token of the control interface")
  .addOption(jsonOption)
  .action(async (options) => {
    const { receive } = await import("./fake-server/receiver/index.ts");
    await receive(
      {
        port: options.port ?? 0,
        controlPort: options.controlPort ?? 0,
        http: options.http === true,
        page: options.page === true,
        journal: options.journal,
        ...(options.host === undefined ? {} : { host: options.host }),
        ...(options.publicHost === undefined ? {} : { publicHost: options.publicHost }),
        ...(options.certificateFolder === undefined ? {} : { certificateFolder: options.certificateFolder }),
        ...(options.path === undefined ? {} : { path: options.path }),
        ...(options.cert === undefined ? {} : { certFile: options.cert }),
        ...(options.key === undefined ? {} : { keyFile: options.key }),
        ...(options.plan === undefined ? {} : { planFile: options.plan }),
        ...(options.tokenEnv === undefined ? {} : { tokenEnv: options.tokenEnv }),
      },
      {
        signal: interrupt.signal,
        environment: process.env,
        trouble: (message) => complain(`touchstone: ${message}`),
        listening: (addresses) => {
          if (options.json) printJson(addresses);
          else
            print(
              [
                `callback  ${addresses.callbackUrl}`,
                `control   ${addresses.controlUrl}   (GET /state, GET /pushes, PUT /plan, POST /listener, PUT /certificate)`,
                ...(addresses.pageUrl === undefined ? [] : [`page      ${addresses.pageUrl}`]),
                ...(addresses.caFile === undefined
                  ? []
                  : [`authority ${addresses.caFile}   (senders have to trust it)`]),
                ...(addresses.journal === undefined ? [] : [`journal   ${addresses.journal}`]),
                ...(addresses.token === undefined ? [] : [`token     ${addresses.token}`]),
                "Ctrl-C ends it.",
              ].join("\n"),
            );
        },
      },
    );
  });

program
  .command("load")
  .description("loads a service with k6 and checks the rules meanwhile; without a profile, the embedded fake")
  .addOption(profileOption)
  .option("--behaviour <name>", "behaviour of the embedded fake (`sound` where left out)")
  .option("--scenario <name>", "token, notifications, mixed, push or breakpoint", "mixed")
  .option("--shape <name>", "constant, ramp, spike, soak or breakpoint (`constant` where left out)")
  .option("--rate <number>", "requests a second at the peak", integerFlag("--rate", 1, 1_000_000), 100)
  .addOption(
    new Option("--duration <duration>", "how long the load lasts, such as 10s, 5m or 1h")
      .default(30_000, "30s")
      .argParser(durationFlag("--duration")),
  )
  .option(
    "--warm-up <duration>",
    "how much of the beginning no objective counts (a tenth, 5s at most, where left out)",
    durationFlag("--warm-up"),
  )
  .option(
    "--vus <number>",
    "the most virtual users that k6 may use; follows from the rate where left out",
    integerFlag("--vus", 1, 100_000),
  )
  .addOption(seedOption)
  .addOption(maxWaitOption)
  .option("--out <directory>", "the run directory; a new one under runs/ where left out")
  .option(
    "--report <formats>",
    "writes reports of the run: html, junit, ctrf, markdown, separated by commas",
    reportFlag,
  )
  .option("--report-out <directory>", "where reports go; a folder beside the run directory where left out")
  .addOption(jsonOption)
  .action(async (options) => {
    const { parseAsked } = await import("./scenarios/runner/index.ts");
    const asked = parseAsked({
      scenario: options.scenario,
      shape: options.shape,
      rate: options.rate,
      durationMs: options.duration,
      warmUpMs: options.warmUp,
      virtualUsers: options.vus,
      seed: options.seed ?? randomInt(2 ** 31),
    });
    const { record, directory } = await runLoad(options, asked);
    const { renderLoad } = await import("./reports/terminal/load.ts");
    if (options.json) printJson({ ...record, run: directory });
    else print(renderLoad(record, { ...(await page()), run: directory }));
    for (const file of await reportOn([directory], options)) say(`Report   ${file}`);
    process.exitCode = record.exitCode ?? exitCodes["harness-error"];
  });

program
  .command("run")
  .description("the whole job: the gate, a short load run, and one HTML report of both")
  .addOption(profileOption)
  .option("--behaviour <name>", "behaviour of the embedded fake (`sound` where left out)")
  .addOption(effortOption("standard"))
  .addOption(seedOption)
  .addOption(maxWaitOption)
  .option("--scenario <name>", "scenario of the load run: token, notifications, mixed or push", "mixed")
  .option("--rate <number>", "requests a second of the load run", integerFlag("--rate", 1, 1_000_000), 100)
  .addOption(
    new Option("--duration <duration>", "how long the load lasts")
      .default(5_000, "5s")
      .argParser(durationFlag("--duration")),
  )
  .option(
    "--report-out <directory>",
    "where the report goes; a folder beside the run directory where left out",
  )
  .action(async (options) => {
    const { findK6, parseAsked, runnerClock } = await import("./scenarios/runner/index.ts");
    const seed = options.seed ?? randomInt(2 ** 31);
    const { duration: durationMs, rate, scenario } = options;
    const asked = parseAsked({ scenario, rate, durationMs, seed });
    // k6 may have to be built first, which the gate need not wait for.
    let isJudged = false;
    let progress = "";
    const k6 = findK6({
      environment: process.env,
      clock: runnerClock,
      onProgress: (line) => {
        progress = line;
        if (isJudged) say(line);
      },
      signal: interrupt.signal,
    });
    k6.catch(() => undefined);
    const gate = await runGate({ ...options, seed });
    const { renderConform } = await import("./reports/terminal/conform.ts");
    const { pinned, directory } = gate;
    const shown = { ...(await page()), quiet: io.quiet, program: programName };
    print(renderConform(gate.record, { ...shown, run: directory, pinned }));
    process.exitCode = gate.record.exitCode ?? exitCodes["harness-error"];
    if (interrupt.signal.aborted) return;
    isJudged = true;
    if (progress !== "") say(progress);
    const runs = [directory];
    try {
      const loaded = await runLoad(options, asked, k6);
      runs.push(loaded.directory);
      const { renderLoad } = await import("./reports/terminal/load.ts");
      print(`\n${renderLoad(loaded.record, { ...shown, run: loaded.directory })}`);
      if (process.exitCode === exitCodes.passed)
        process.exitCode = loaded.record.exitCode ?? exitCodes["harness-error"];
    } finally {
      // What the gate found is worth its report whatever became of the load.
      const [report] = await reportOn(runs, { ...options, report: ["html"] }, pinned);
      print(`Report   ${report ?? ""}`);
    }
  });

program
  .command("report [runs...]")
  .description(
    "writes reports of one or several run directories, or looks whether they are as they were sealed",
  )
  .addOption(
    new Option("--report <formats>", "html, junit, ctrf, markdown, separated by commas").argParser(
      reportFlag,
    ),
  )
  .option("--out <directory>", "where reports go; a folder beside the first run where left out")
  .addOption(
    new Option(
      "--schema <name>",
      "prints the JSON Schema of a file of run directories, or of its lines",
    ).choices(["conform", "load", "duet", "manifest", "exchange", "rule", "second", "breach"] as const),
  )
  .option(
    "--verify",
    "compares every file of the runs with the manifest that sealed them, and writes nothing",
  )
  .addOption(jsonOption)
  .action(async (directories, options) => {
    if (options.schema !== undefined) {
      const { schemaOf } = await import("./reports/read/index.ts");
      return printJson(schemaOf(options.schema));
    }
    if (directories.length === 0)
      throw new ConfigurationError(["report takes one or more run directories, or --schema <name>"]);
    const { readRun, verify } = await import("./reports/read/index.ts");
    if (options.verify === true) {
      const found = [];
      for (const directory of directories) {
        await readRun(directory, { altered: "read" });
        found.push({ run: directory, ...(await verify(directory)) });
      }
      const { renderVerified } = await import("./reports/terminal/verified.ts");
      if (options.json) printJson(found);
      else print(renderVerified(found, await page()));
      if (found.some(({ state }) => state === "altered")) process.exitCode = exitCodes.failed;
      else if (found.some(({ state }) => state === "unsealed")) process.exitCode = exitCodes.incomplete;
      return;
    }
    const files = await reportOn(directories, { report: options.report ?? ["html"], reportOut: options.out });
    if (options.json) printJson({ files });
    else print(files.join("\n"));
  });

program
  .command("compare <runs...>")
  .description("compares the last run with the ones before it: rules, observations, latency")
  .option(
    "--baseline <folder>",
    "compares with the earlier runs of this folder that have the same fingerprint",
  )
  .option("--force", "compares runs that differ in what makes them comparable, and says so")
  .addOption(seedOption)
  .addOption(jsonOption)
  .action(async (directories, options) => {
    const { readRun } = await import("./reports/read/index.ts");
    const { baselineOf, compareRuns } = await import("./reports/compare/index.ts");
    const { seededRandom } = await import("./reports/statistics/random.ts");
    const { renderCompare } = await import("./reports/terminal/compare.ts");
    const runs = [];
    for (const directory of directories)
      runs.push(await readRun(directory, options.force === true ? { altered: "read" } : {}));
    const head = runs.at(-1);
    if (head === undefined || (directories.length < 2 && options.baseline === undefined))
      throw new ConfigurationError([
        "compare takes two or more run directories, or one and --baseline <folder> with the earlier ones",
      ]);
    const earlier = options.baseline === undefined ? undefined : await baselineOf(options.baseline, head);
    const comparison = await compareRuns([...(earlier?.runs ?? []), ...runs.slice(0, -1)], head, {
      force: options.force === true,
      leftOut: earlier?.leftOut ?? [],
      random: seededRandom(options.seed ?? 1),
    });
    if (options.json) printJson(comparison);
    else print(renderCompare(comparison, await page()));
    process.exitCode = {
      regressed: exitCodes.failed,
      drifted: exitCodes.drifted,
      "no regression": exitCodes.passed,
    }[comparison.verdict];
  });

program
  .command("ledger <file>")
  .description("prints what a ledger holds: what is due when, what was judged, what expired unjudged and why")
  .addOption(jsonOption)
  .action(async (file, options) => {
    const { listLedger } = await import("./conformance/ledger/store.ts");
    const { dueWindow } = await import("./conformance/ledger/entries.ts");
    const { renderLedger } = await import("./reports/terminal/ledger.ts");
    const at = (ms: number): string => new Date(ms).toISOString();
    const rows = listLedger(file).map((entry) => {
      const due = dueWindow(entry);
      const { rule, subject, side, target, state, lifetimeMs, held, note } = entry;
      return {
        rule,
        subject,
        side,
        target,
        state,
        lifetimeMs,
        issuedAt: at(entry.issued.earliestMs),
        dueFrom: at(due.earliestMs),
        dueUntil: at(due.latestMs),
        ...(held === undefined ? {} : { held }),
        ...(note === undefined ? {} : { note }),
      };
    });
    if (options.json) printJson(rows);
    else print(renderLedger(file, rows, await page()));
  });

program
  .command("history [folder]")
  .description(
    "the runs of a folder over time: verdicts, latency with the places where it changed, flaky rules",
  )
  .option("--rule <id>", "verdicts of this rule alone")
  .option("--endpoint <name>", "latency of this endpoint alone")
  .option("--metric <name>", "p50, p95, p99 or requests per second alone")
  .option("--kind <kind>", "conform or load", choiceFlag("--kind", ["conform", "load"] as const))
  .option("--target <name>", "runs against this target alone")
  .option("--since <date>", "runs that started then or later, as YYYY-MM-DD", dateFlag("--since"))
  .option("--last <number>", "the latest so many runs alone", integerFlag("--last", 1, 1_000_000))
  .option(
    "--report <format>",
    "html: writes the history as a page",
    choiceFlag("--report", ["html"] as const),
  )
  .option("--out <directory>", "where the page goes; a folder beside the runs where left out")
  .addOption(jsonOption)
  .action(async (folder, options) => {
    if (options.out !== undefined && options.report === undefined)
      throw new ConfigurationError(["--out is for --report html, which is missing"]);
    const { historyOf } = await import("./reports/history/index.ts");
    const { renderHistory } = await import("./reports/terminal/run-history.ts");
    const { last, rule, endpoint, metric, kind, target, since } = options;
    const history = await historyOf(folder ?? "runs", {
      ...(last === undefined ? {} : { last }),
      ...(kind === undefined ? {} : { kind }),
      ...(target === undefined ? {} : { target }),
      ...(since === undefined ? {} : { since }),
      ...(rule === undefined ? {} : { rule }),
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(metric === undefined ? {} : { metric }),
    });
    if (options.json) printJson(history);
    else print(renderHistory(history, await page()));
    if (options.report === undefined) return;
    const { writeHistory } = await import("./reports/write.ts");
    const file = writeHistory(history, options.out ?? `${history.folder.replace(/[\\/]+$/, "")}-report`);
    say(`Report  ${file}`);
  });

/** One side of a duet: its target, started first where a command for that was given. */
const openSide = async (side: "a" | "b", given: string, start: string | undefined, k6: FoundK6) => {
  const { runnerClock, startTarget } = await import("./scenarios/runner/index.ts");
  const flag = `--start-${side}`;
  const isFake = given.startsWith("fake:");
  if (isFake && start !== undefined)
    throw new ConfigurationError([`${flag} is for a profile; "${given}" is started without a command`]);
  const flags: LoadTargetFlags = isFake ? { behaviour: given.slice("fake:".length) } : { profile: [given] };
  const started =
    start === undefined
      ? undefined
      : await startTarget({
          command: start,
          flag,
          baseUrl: (await openTarget(flags)).resolved.profile.baseUrl,
          withinMs: 60_000,
          environment: process.env,
          clock: runnerClock,
          signal: interrupt.signal,
        });
  const quiet = { second: () => {}, phase: () => {} };
  try {
    const opened = await openLoad({ ...flags, maxWait: 0 }, false, k6, quiet);
    return {
      context: opened.context,
      stop: async () => {
        await opened.stop();
        await started?.stop();
      },
    };
  } catch (error) {
    await started?.stop();
    throw error;
  }
};

program
  .command("duet <a> <b>")
  .description(
    "loads two builds of a service in turns and says whether b is slower than a; each is a profile, or fake:BEHAVIOUR",
  )
  .option("--start-a <command>", "starts a by this command of the shell, and ends it afterwards")
  .option("--start-b <command>", "the same for b")
  .option("--scenario <name>", "token, notifications or mixed", "token")
  .option("--rate <number>", "requests a second", integerFlag("--rate", 1, 1_000_000), 100)
  .option("--pairs <number>", "pairs of blocks", integerFlag("--pairs", 2, 1_000), 20)
  .addOption(
    new Option("--block <duration>", "length of a block, its first fifth not counted")
      .default(10_000, "10s")
      .argParser(durationFlag("--block")),
  )
  .option(
    "--plan-for <share>",
    "plays a few pairs and says how many would find a change of, say, 5%",
    shareFlag("--plan-for"),
  )
  .option("--end-early", "ends at a planned look where a regression is certain already")
  .addOption(seedOption)
  .option("--out <directory>", "where the records of the blocks go; a new one under runs/ where left out")
  .addOption(jsonOption)
  .action(async (a, b, options) => {
    const { parseBlock, playDuet, runnerClock } = await import("./scenarios/runner/index.ts");
    const { duetExitCode } = await import("./reports/duet/document.ts");
    const { duetSession } = await import("./reports/duet/session.ts");
    const { writeDuet } = await import("./reports/duet/write.ts");
    const { runDirectory } = await import("./conformance/recorded-run.ts");
    const { renderDuetRun } = await import("./reports/terminal/duet.ts");
    const seed = options.seed ?? randomInt(2 ** 31);
    const { block: blockMs, rate, scenario } = options;
    const plan = parseBlock({ scenario, rate, blockMs, seed });
    const startedAt = runnerClock.wallTime();
    const session = duetSession(
      { pairs: options.pairs, seed, endEarly: options.endEarly === true, planFor: options.planFor },
      {
        tool: tool.version,
        startedAt: startedAt.toISOString(),
        a,
        b,
        scenario,
        rate,
        blockMs,
        warmUpMs: plan.warmUpMs,
      },
    );
    const k6 = await k6ForLoad();
    const first = await openSide("a", a, options.startA, k6);
    try {
      const second = await openSide("b", b, options.startB, k6);
      try {
        const run = options.out ?? runDirectory(startedAt, "duet", randomUUID);
        recording = true;
        const played = await playDuet(
          {
            a: first.context,
            b: second.context,
            plan,
            schedule: session.schedule,
            goesOn: session.goesOn,
            onBlock: ({ pair, side, record }) =>
              say(
                `pair ${pair + 1} of ${session.pairs}, ${side}: ${record.validity?.valid === false ? "spoilt" : (record.outcome ?? "cut off")}`,
              ),
            onPair: (soFar) => writeDuet(run, session.document("open", soFar)),
            signal: interrupt.signal,
          },
          run,
        );
        const document = session.document(played.interrupted ? "interrupted" : "ended", played);
        writeDuet(run, document);
        const isPilot = options.planFor !== undefined;
        if (options.json) printJson({ ...document, run });
        else print(renderDuetRun(document, { ...(await page()), run, isPilot }));
        process.exitCode = duetExitCode(document, isPilot);
      } finally {
        await second.stop();
      }
    } finally {
      await first.stop();
    }
  });

program
  .command("detect")
  .description("measures what the rules can see: seeded defects killed, false alarms on conforming variants")
  .option("--full", "every defect against every rule at standard effort, with the whole matrix")
  .option("--behaviour <names>", "these defects and variants alone", listFlag)
  .addOption(effortOption("quick"))
  .addOption(seedOption)
  .option("--jobs <number>", "processes side by side", integerFlag("--jobs", 1, 64), availableParallelism())
  .addOption(new Option("--shard <i/n>", "the i-th of n parts of the list, for machines that share the work"))
  .addOption(jsonOption)
  .action(async (options, command) => {
    const { detectPatienceMs, detectShard, mergeDetections, parseShard } =
      await import("./conformance/detect.ts");
    const fake = await import("./fake-server/index.ts");
    const { rules } = await import("./conformance/rules/index.ts");
    const seed = options.seed ?? randomInt(2 ** 31);
    const full = options.full === true;
    const effort = full && command.getOptionValueSource("effort") === "default" ? "standard" : options.effort;
    const shard = parseShard(options.shard);
    const own = async (part: typeof shard): Promise<DetectReport> =>
      detectShard(part, {
        defects: fake.defects,
        variants: fake.companies(fake.variants, full ? 1 : 4),
        joint: fake.joint,
        ...(options.behaviour === undefined ? {} : { names: options.behaviour }),
        rules,
        start: (behaviour, judging) =>
          withReceiver(openTarget({ behaviour, patienceMs: detectPatienceMs }), judging),
        effort,
        seed,
        full,
        freshUuid: randomUUID,
        signal: interrupt.signal,
        onSubject: ({ name }) => say(`  ${name}`),
      });
    const inChild = (part: typeof shard): Promise<DetectReport> =>
      runSelf([
        "detect",
        "--json",
        "--jobs",
        "1",
        "--shard",
        `${part.index + 1}/${part.count}`,
        "--seed",
        String(seed),
        "--effort",
        effort,
        ...(full ? ["--full"] : []),
        ...(options.behaviour === undefined ? [] : ["--behaviour", options.behaviour.join(",")]),
      ]);
    const parts = Array.from({ length: options.jobs }, (_, job) => ({
      index: shard.index * options.jobs + job,
      count: shard.count * options.jobs,
    }));
    const report =
      options.jobs === 1 ? await own(shard) : mergeDetections(await Promise.all(parts.map(inChild)));
    const { renderDetect, renderInterrupted } = await import("./reports/terminal/detect.ts");
    if (options.json) printJson(report);
    else if (interrupt.signal.aborted) say(renderInterrupted(report));
    else print(renderDetect(report, await page()));
    if (interrupt.signal.aborted) process.exitCode = exitCodes.interrupted;
    else if (report.defects.survivors.length + report.variants.falseAlarms.length > 0)
      process.exitCode = exitCodes.failed;
    else if ((report.variants.unsettled ?? []).length > 0) process.exitCode = exitCodes.incomplete;
  });

/** Runs this very command line in a process of its own and reads the JSON that it prints. */
const runSelf = (parameters: readonly string[]): Promise<DetectReport> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...parameters], {
      stdio: ["ignore", "pipe", io.quiet || io.json ? "ignore" : "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      try {
        resolve(JSON.parse(text) as DetectReport);
      } catch {
        reject(new Error(`a part of the detection ended with exit code ${code} and no report`));
      }
    });
  });

/** Makes every error one clear message and the exit code that it stands for. */
const exitCodeFor = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  if (interrupt.signal.aborted) return exitCodes.interrupted;
  if (
    error instanceof ConfigurationError ||
    isNamed(error, [
      "UnknownBehaviour",
      "InvalidClients",
      "InvalidCertificate",
      "InvalidJournal",
      "IncomparableRuns",
      "InvalidLoad",
      "K6Missing",
      "InvalidPlan",
      "InvalidReceiver",
      "UnreadableRun",
      "UnwritableReport",
      "UnusableData",
      "PortInUse",
    ])
  ) {
    complain(`touchstone: ${error.message.replaceAll("\n", "\n            ")}`);
    return exitCodes.usage;
  }
  if (isNamed(error, ["FakeNotStarted"])) {
    complain(`touchstone: ${error.message}`);
    return "exitCode" in error && error.exitCode === 2 ? exitCodes.usage : exitCodes["harness-error"];
  }
  if (error instanceof UnreachableError || isNamed(error, ["TargetNotAnswering"])) {
    complain(`touchstone: ${error.message}`);
    return exitCodes.unreachable;
  }
  complain(
    `touchstone: an error of the harness itself, not of the service:\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return exitCodes["harness-error"];
};

const isNamed = (error: unknown, names: readonly string[]): error is Error =>
  error instanceof Error && names.includes(error.name);

/** Whether the command writes a record that an interruption cuts short. */
let recording = false;

/** One interruption ends the run in an orderly way; a second one ends the process. */
const onInterrupt = (): void => {
  if (interrupt.signal.aborted) process.exit(exitCodes.interrupted);
  interrupt.abort();
  if (recording) say("\nStopping; what was recorded stays readable. Once more to quit at once.");
};

// A reader that went away (`| head`) ends the output, not the run: its exit code still tells the outcome.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
process.on("SIGINT", onInterrupt);
process.on("SIGTERM", onInterrupt);

// What escapes every handler would be printed as it is, with whatever its message quotes; and a crash report holds the environment.
process.on("uncaughtException", (error) => process.exit(exitCodeFor(error)));
process.report.excludeEnv = true;

const main = async (): Promise<void> => {
  try {
    const elsewhere = await runOnBroughtNode(process.argv);
    if (elsewhere !== undefined) {
      process.exitCode = elsewhere;
      return;
    }
    for (const command of [program, ...program.commands])
      command.exitOverride().showHelpAfterError("(--help tells more)");
    if (process.argv.length <= 2) program.help({ error: true });
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeFor(error);
  }
};

await main();
