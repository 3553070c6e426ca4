import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { PlantedPlace, RunPlanted } from "../../conformance/testing/reliability/planted.ts";

const formats = "html,junit,ctrf,markdown,har";

/** Runs every command that the short run omits, on records in `gate`, `load` and `ledger`; then crashes and a kill. */
export const runEverythingElse = async (run: RunPlanted, place: PlantedPlace): Promise<void> => {
  const { profile, spoil } = place;
  await run("report", ["report", "gate", "--report", "html", "--out", "again"]);
  spoil(false);
  const quick = ["--effort", "quick", "--seed", "1"];
  const only = ["--only", "exchange.authenticates-client,exchange.token-set,code.unknown"];
  const k6 = ["--rate", "40", "--seed", "1"];
  await run("duet", ["duet", profile, profile, "--pairs", "2", "--block", "2s", ...k6, "--out", "duet"]);
  spoil(true);
  // The service echoes secrets in every refusal, but spoils only some of its other answers.
  const leak = ["replay", "gate", "exchange.refusal-leaks-nothing", "-p", profile];
  await run("replay", leak);
  await run("replay --json", [...leak, "--json"]);
  await run("conform again", ["conform", "-p", profile, ...quick, ...only, "--out", "gate-2"]);
  spoil(false);
  await run("compare", ["compare", "gate", "gate-2", "--force"]);
  await run("compare --json", ["compare", "gate", "gate-2", "--force", "--json"]);
  await run("report all", ["report", "gate", "gate-2", "load", "--report", formats, "--out", "all"]);
  await run("history", ["history", "."]);
  await run("history html", ["history", ".", "--report", "html", "--out", "history"]);
  await run("history --json", ["history", ".", "--json"]);
  await run("ledger", ["ledger", "kept.sqlite"]);
  await run("ledger --json", ["ledger", "kept.sqlite", "--json"]);
  const short = "--duration 2s --rate 30 --report-out run".split(" ");
  await run("run", ["run", "-p", profile, ...quick, ...short]);
  await run("detect", ["detect", "--behaviour", "code-reusable", "--jobs", "1", "--json"]).catch(
    () => undefined,
  );
  const client = ["--client-id", "c", "--secret-env", "TOUCHSTONE_CLIENT_1_SECRET"];
  const service = ["--base-url", "https://s.example", "--redirect-uri", "https://c.example/cb"];
  await run("init", ["init", ...service, ...client, "--out", "made.json"]);
  await crashes(run, place, [...quick, ...only]);
};

/** An error thrown while a rule sends something, an uncaught one, and a process ended for a core dump. */
const crashes = async (
  run: RunPlanted,
  { given, profile, secret }: PlantedPlace,
  flags: readonly string[],
) => {
  const conform = (out: string): readonly string[] => ["conform", "-p", profile, ...flags, "--out", out];
  const loading = (name: string, script: string): NodeJS.ProcessEnv => {
    const file = path.join(given, `${name}.mjs`);
    writeFileSync(file, script);
    const reports = "--report-uncaught-exception --report-on-fatalerror --report-on-signal";
    return { NODE_OPTIONS: `--import=${file} ${reports} --report-directory=.` };
  };
  const quoted = JSON.stringify(secret);
  // At a moment when the run must know its secrets, however slowly it starts.
  const whileExchanging = (action: string): string => `const stringify = JSON.stringify;
let seen = 0;
JSON.stringify = (value, ...more) => {
  const text = stringify(value, ...more);
  if (value?.clientSecret !== undefined && value.code !== undefined && (seen += 1) > 12) { ${action} }
  return text;
};`;
  const endings = {
    "crash in a rule": `throw new TypeError("cannot send " + text + " to " + ${quoted});`,
    crash: `setTimeout(() => { throw new Error("not caught:  " + ${quoted}); });`,
    rejection: `void Promise.reject(new Error("not awaited:  " + ${quoted}));`,
  };
  for (const [nth, [name, action]] of Object.entries(endings).entries())
    await run(name, conform(`crash-${nth + 1}`), undefined, {
      code: 5,
      env: loading(`crash-${nth + 1}`, whileExchanging(action)),
    });
  await run(
    "a dump on demand",
    ["conform", "-p", profile, "--effort", "thorough", "--out", "dump"],
    async ({ child }) => {
      await delay(2_000);
      child.kill("SIGUSR2");
      await delay(500);
      child.kill("SIGQUIT");
    },
    { code: null, env: loading("dump", "") },
  );
};
