/** A command line and what it does, shown by `--help` and the reference. */
type Example = readonly [line: string, does: string];

const profile = "--profile touchstone.config.ts";

export const examples: Readonly<Record<string, readonly Example[]>> = {
  conform: [
    ["conform", "judge the embedded fake by every rule"],
    [`conform ${profile} --report junit,html`, "judge your service, and write reports for CI and for people"],
    [
      `conform ${profile} --only code.lifetime,code.single-use --verbose`,
      "judge two rules, and show everything measured",
    ],
    [
      `conform ${profile} --max-wait 45m --ledger promises.ledger`,
      "judge in real time, and leave lifetimes of days to later runs",
    ],
    ["conform --behaviour code-lives-a-second-longer", "see the gate fail"],
  ],
  replay: [
    [
      "replay runs/2026-11-21-130645-conform-a931 code.lifetime",
      "judge a failed rule again, with the values that broke it",
    ],
  ],
  init: [
    ["init", "write touchstone.config.ts, and say which lines to fill in"],
    [
      "init --base-url https://staging.example --client-id client-1 --secret-env CLIENT_1_SECRET --redirect-uri https://client.example/callback",
      "write it filled in",
    ],
    ["init --schema profile.schema.json", "write the JSON Schema of profiles, for editors"],
  ],
  doctor: [
    [`doctor ${profile}`, "check everything a run depends on, before the first run and after changes"],
  ],
  rules: [
    ["rules", "print the catalogue"],
    ["rules code.lifetime", "print how one rule is judged, and which seeded defects it must find"],
    ["rules --openapi", "print the service's contract as OpenAPI 3.1"],
  ],
  serve: [
    [
      "serve --port 8080 --control-port 8081 --write-profile fake.json",
      "run the fake, and write a profile for it",
    ],
    ["serve --list lifetime", "list the behaviours that concern lifetimes"],
    ["serve --behaviour code-lives-a-second-longer", "run a fake that breaks a promise"],
  ],
  health: [
    [
      "health http://127.0.0.1:9444",
      "exit with 0 if the receiver's control interface answers at this address",
    ],
  ],
  receive: [
    ["receive --port 9443 --page", "watch pushes live while you work on the sender"],
    [
      "receive --host 0.0.0.0 --public-host hooks.example --port 9443 --control-port 9444 --token-env RECEIVER_TOKEN",
      "run the receiver where the service can reach it, for runs on another machine",
    ],
  ],
  load: [
    [
      `load ${profile} --scenario mixed --rate 200 --duration 5m`,
      "load your service, and judge objectives and rules",
    ],
    [
      `load ${profile} --shape breakpoint --rate 2000 --duration 2m`,
      "find the rate at which an objective gives way",
    ],
    ["load --scenario push --rate 20 --duration 10s", "load the pushes of the embedded fake"],
  ],
  merge: [["merge segments/1 segments/2 --report html", "combine two segments of a load into one run"]],
  run: [
    ["run", "run the gate and a load against the embedded fake, and write one report"],
    [`run ${profile} --rate 50 --duration 30s`, "the same for your service"],
  ],
  report: [
    ["report runs/2026-11-21-130645-conform-a931 --report html,markdown", "write reports of a run"],
    ["report --schema conform", "print the JSON Schema of a gate's record"],
  ],
  compare: [
    ["compare runs/before runs/after --report html", "compare two runs"],
    ["compare runs/after --baseline runs", "compare a run with ten or more of the same kind"],
  ],
  ledger: [["ledger promises.ledger", "list what later runs will judge, and when"]],
  history: [
    ["history runs --report html", "show all runs over time"],
    ["history runs --rule code.lifetime --last 20", "show one rule in the latest runs"],
  ],
  duet: [
    [
      "duet main.config.ts branch.config.ts --scenario token --rate 100 --pairs 20",
      "say whether the branch is slower than main",
    ],
  ],
  completion: [
    ["completion bash", 'print the script; eval "$(touchstone completion bash)" in ~/.bashrc loads it'],
    ["completion fish", "print that of fish; touchstone completion fish | source loads it"],
  ],
  detect: [
    ["detect", "measure which seeded defects the rules find"],
    ["detect --behaviour code-lives-a-second-longer --json", "measure one of them"],
  ],
};

export const exampleLines = (command: string): string => {
  const lines = (examples[command] ?? []).map(([line, does]) => `  touchstone ${line}\n      ${does}`);
  return lines.length === 0 ? "" : `\nExamples:\n${lines.join("\n")}`;
};
