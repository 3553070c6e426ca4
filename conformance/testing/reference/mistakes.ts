/** How a command answers a mistake; the exit code is 2 unless given. */
export type Mistake = readonly [
  mistake: string,
  /** The arguments; a word in braces is a file, folder or address that the test creates. */
  line: string,
  /** Part of the one line that answers it. */
  says: string,
  exitCode?: number,
];

/** Mistakes by what they are made with. A test makes each of them, and the reference has a page of them. */
export const mistakes: Readonly<Record<string, readonly Mistake[]>> = {
  "Commands and flags": [
    ["misspelt command", "lod", "unknown command 'lod'"],
    ["misspelt flag", "load --rat 5", "unknown option '--rat'"],
    ["flag without a value", "load --rate", "option '--rate <number>' argument missing"],
    [
      "profile given without --profile",
      "conform gate.mts",
      "1: gate.mts. A profile is given with --profile.",
    ],
    [
      "group name given as a rule",
      "conform --only exchange",
      "--only exchange: no such rule; a group is judged with --section exchange; `touchstone rules` lists all",
    ],
    [
      "too many arguments",
      "rules code.lifetime code.unknown",
      "too many arguments for 'rules'. Expected 1 argument but got 2: code.lifetime, code.unknown.",
    ],
    [
      "flag set from an empty variable",
      "conform --only=",
      '--only is ""; accepted is a value; if it comes from a variable, set it',
    ],
    ["missing argument", "replay {gate}", "missing required argument 'rule'"],
    [
      "--quiet together with --verbose",
      "conform --verbose --quiet",
      "--verbose and --quiet contradict each other; remove one",
    ],
    [
      "unknown rule in `rules`",
      "rules code.lifetme",
      'rule "code.lifetme": unknown id; similar ones are code.lifetime, code.lifetime-is-not-extended, refresh.lifetime',
    ],
    [
      "unknown section",
      "conform --section 99",
      "--section 99: no such section; accepted are authorize, code, exchange, refresh, access, notifications, push, whole, untestable",
    ],
    [
      "unknown level",
      "conform --level strict",
      "--level strict: no such level; accepted are required, derived, advisory, unspecified, untestable",
    ],
    [
      "unknown effort",
      "conform --effort huge",
      '--effort is "huge"; accepted is one of quick, standard, thorough',
    ],
    [
      "selections without a common rule",
      "conform --only code.lifetime --section push",
      "--only, --section and --level together select no rule",
    ],
    [
      "unknown behaviour of the fake",
      "conform --behaviour code-reusabel",
      '--behaviour: there is no behaviour "code-reusabel"; similar ones are code-reusable, code-reusable-twice, code-reusable-after-refresh',
    ],
    [
      "seed that is not a whole number",
      "conform --seed 1.5",
      '--seed is "1.5"; accepted is a whole number from -2147483648 to 2147483647',
    ],
    [
      "seed out of range",
      "conform --seed 99999999999",
      '--seed is "99999999999"; accepted is a whole number from -2147483648 to 2147483647',
    ],
    [
      "duration without a unit",
      "conform --max-wait 20",
      '--max-wait is "20"; accepted is a duration with its unit, such as 500ms, 90s, 20m, 2h or 30d',
    ],
    [
      "negative duration",
      "conform --max-wait=-5s",
      '--max-wait is "-5s"; accepted is a duration with its unit, such as 500ms, 90s, 20m, 2h or 30d',
    ],
    [
      "ledger key without a ledger",
      "conform --ledger-key-file {file}",
      "--ledger-key-file needs --ledger <file>",
    ],
    [
      "ledger without a key",
      "conform --only code.lifetime --ledger {empty}/ledger",
      "it holds credentials and needs a key; set TOUCHSTONE_LEDGER_KEY, or give a file with --ledger-key-file",
    ],
    [
      "resumed run with another seed",
      "conform --resume {gate} --seed 5",
      "continues that run with its own flags; remove --seed",
    ],
    [
      "resuming a completed run",
      "conform --resume {gate}",
      "it is complete (passed); accepted is a run that was interrupted or killed",
    ],
    ["resuming a load run", "conform --resume {load}", "is a load run; give the run directory of a gate run"],
    [
      "port out of range",
      "serve --port 70000",
      '--port is "70000"; accepted is a whole number from 0 to 65535',
    ],
    [
      "port that is not a number",
      "receive --port http",
      '--port is "http"; accepted is a whole number from 0 to 65535',
    ],
    [
      "unknown rule in --only",
      "conform --only code.singleuse",
      "--only code.singleuse: no such rule; did you mean code.single-use, code.single-use-under-race, code.reuse-revokes-tokens? `touchstone rules` lists all",
    ],
    [
      "rule that cannot be tested",
      "conform --only untestable.rate-limits",
      "--only untestable.rate-limits: it cannot be tested (`touchstone rules untestable.rate-limits` says why)",
    ],
    [
      "search for behaviours without a match",
      "serve --list zzz",
      '--list "zzz": no behaviour has that in its name, summary or rules; similar ones are',
    ],
    ["missing clients file", "serve --clients {empty}/none.json", "none.json (there is no such file)"],
    ["port already in use", "serve --port {usedPort}", "is in use; give another one, or 0 for any free port"],
    [
      "shard out of range",
      "detect --shard 3/2",
      '--shard is "3/2"; accepted is i/n with i from 1 to n, such as 1/2',
    ],
    [
      "health check without an address",
      "health 9444",
      'the address is "9444"; accepted is one such as http://127.0.0.1:9444',
    ],
    ["health check of an address where nothing listens", "health {deadAddress}", "does not answer: ", 4],
    [
      "init without a terminal",
      "init --out {empty}/new.json",
      "init: there is no terminal for questions, so it needs --base-url <address>, --client-id <id>, --secret-env <name>, --redirect-uri <address> (those of clients once per client), or --yes to accept the defaults",
    ],
    ["init over an existing profile", "init --yes --out {dead}", "already exists; --force replaces it"],
    [
      "init with an unknown file type",
      "init --yes --out p.yaml",
      '--out is "p.yaml"; accepted is a name that ends with .ts, .mts or .json',
    ],
    [
      "init with a secret in place of its variable",
      "init --yes --secret-env s3-cret! --out {empty}/new.json",
      "--secret-env: that is not a variable name; accepted is a name such as CLIENT_1_SECRET, never the secret itself",
    ],
    [
      "init with a baseUrl that includes the API path",
      "init --yes --base-url https://x.example/open-api/authorize --out {empty}/new.json",
      '--base-url: baseUrl is "https://x.example/open-api/authorize"; accepted is the part before /open-api/: "https://x.example"',
    ],
    [
      "profile written to a missing folder",
      "serve --port 0 --write-profile {empty}/none/fake.json",
      "fake.json cannot be written (there is no such folder)",
    ],
    [
      "health check of a port out of range",
      "health http://127.0.0.1:99999",
      'the address is "http://127.0.0.1:99999"; accepted is one such as http://127.0.0.1:9444',
    ],
    [
      "init with a redirectUri that is not a URL",
      "init --yes --redirect-uri callback --out {empty}/new.json",
      '--redirect-uri: redirectUri is "callback"; accepted is an absolute URL that starts with http:// or https://',
    ],
  ],
  Loads: [
    [
      "unknown scenario",
      "load --scenario tokens",
      '--scenario is "tokens"; accepted are token, notifications, mixed, push, breakpoint',
    ],
    [
      "unknown shape",
      "load --shape square",
      '--shape is "square"; accepted are constant, ramp, spike, soak, breakpoint',
    ],
    ["rate of zero", "load --rate 0", '--rate is "0"; accepted is a whole number from 1 to 1000000'],
    [
      "rate with a unit",
      "load --rate 100/s",
      '--rate is "100/s"; accepted is a whole number from 1 to 1000000',
    ],
    [
      "duration of zero",
      "load --duration 500ms",
      "--duration is shorter than a second; accepted is 1s or longer",
    ],
    [
      "warm-up as long as the load",
      "load --duration 5s --warm-up 5s",
      "--warm-up leaves nothing of --duration; accepted is a shorter one",
    ],
    [
      "number of virtual users that is not a number",
      "load --vus many",
      '--vus is "many"; accepted is a whole number from 1 to 100000',
    ],
    [
      "breakpoint search that is too short",
      "load --scenario breakpoint --duration 4s",
      "--duration is 4s; a search has at least two steps of 3s, so accepted is 6s or longer",
    ],
    [
      "stage without a rate",
      "load --stage 30s",
      '--stage is "30s"; accepted is a duration and requests per second, such as 30s:100',
    ],
    [
      "stages without any requests",
      "load --stage 30s:0",
      "--stage: all stages ask for 0 requests per second; accepted is one that asks for more",
    ],
    [
      "--stage together with --shape",
      "load --stage 30s:10 --shape ramp",
      "--stage sets a custom load; remove --shape, --rate, --duration, and --scenario breakpoint",
    ],
    [
      "--stage together with --rate",
      "load --stage 30s:10 --rate 5",
      "--stage sets a custom load; remove --shape, --rate, --duration, and --scenario breakpoint",
    ],
    [
      "tag without a value",
      "load --tag build",
      '--tag is "build"; accepted is a name and a value, such as build=1234',
    ],
    [
      "segment out of range",
      "load --segment 5/4 --run-id a --start-at 2099-01-01T00:00:00Z",
      '--segment is "5/4"; accepted is I/N, segment I of N, with N from 2 to 1000 and I from 1 to N, such as 2/4; or auto',
    ],
    [
      "host that the profile does not allow",
      "load --profile {elsewhere} --duration 1s",
      'host "staging.example" may not be loaded; accepted are loopback and the hosts in the profile\'s safety.hosts (none so far)',
    ],
    ["duet of one target", "duet fake:sound", "missing required argument 'b'"],
    [
      "duet of one pair",
      "duet fake:sound fake:sound --pairs 1",
      '--pairs is "1"; accepted is a whole number from 2 to 1000',
    ],
    [
      "start command for the embedded fake",
      "duet fake:sound fake:sound --start-a true",
      '--start-a needs a profile; "fake:sound" is started without a command',
    ],
    [
      "rate that is not a number",
      "run --rate fast",
      '--rate is "fast"; accepted is a whole number from 1 to 1000000',
    ],
    [
      "rate above the maximum",
      "load --rate 30000",
      "--rate is 30000; accepted is up to 20000 requests per second (safety.maxRate)",
    ],
    [
      "push load without the required hooks",
      "load --profile {dead} --scenario push",
      "--scenario push needs `hooks.events.trigger` as an HTTP hook (a command cannot be called under load) and `hooks.callback.register` in the profile",
    ],
    [
      "load of a service that is down",
      "load --profile {dead} --scenario token",
      "cannot be reached: dial: connection refused. Start the service, or correct baseUrl in the profile",
      4,
    ],
    [
      "duet of push loads",
      "duet fake:sound fake:sound --scenario push",
      '--scenario is "push"; a duet accepts token, notifications, mixed',
    ],
    [
      "duet with blocks that are too short",
      "duet fake:sound fake:sound --block 1s",
      "--block is 1s; accepted is 2s or longer",
    ],
    [
      "duet with an unknown behaviour",
      "duet fake:sound fake:none",
      '--behaviour: there is no behaviour "none"; similar ones are',
    ],
    [
      "duet with a missing profile",
      "duet fake:sound {empty}/none.json",
      "none.json: there is no such file (`touchstone init` writes one)",
    ],
    ["duet with an unnamed fake", "duet fake: fake:sound", "fake: needs a behaviour, such as fake:sound"],
    [
      "merge of runs that are not segments",
      "merge {load} {gate}",
      "is a gate run; accepted are run directories of `load --segment`",
    ],
  ],
  "Profiles and addresses": [
    [
      "missing profile",
      "conform --profile {empty}/none.json",
      "there is no such file (`touchstone init` writes one)",
    ],
    [
      "profile of an unknown file type",
      "conform --profile {file}",
      "accepted are .json, .ts, .mts, .js and .mjs",
    ],
    [
      "URL given as a profile",
      "conform --profile https://staging.example",
      "this is an address; accepted is a file that names it",
    ],
    ["folder given as a profile", "conform --profile {empty}", "accepted are .json, .ts, .mts, .js and .mjs"],
    [
      "profile that is not valid JSON",
      "conform --profile {broken}",
      "it is not valid JSON (Expected property name or '}' at position 1",
    ],
    [
      "profile with an unknown key",
      "conform --profile {unknownKey}",
      'the profile has the unknown key "baseURL" (did you mean "baseUrl"?); accepted are $schema, name, baseUrl, clients, headers',
    ],
    ["profile without clients", "conform --profile {noClients}", 'the profile lacks the key "clients"'],
    [
      "baseUrl without a scheme",
      "conform --profile {noScheme}",
      'baseUrl is "staging.example"; accepted is an absolute URL that starts with http:// or https://',
    ],
    [
      "secret from an unset variable",
      "conform --profile {unset}",
      "clients[0].secret: the environment variable TOUCHSTONE_UNSET is not set; set it to the secret itself",
    ],
    [
      "gate of a service that is down",
      "conform --profile {dead}",
      "base address: http://127.0.0.1:9 cannot be reached: nothing listens there (connect ECONNREFUSED 127.0.0.1:9); start the service",
      4,
    ],
    [
      "--behaviour together with a profile",
      "conform --profile {dead} --behaviour sound",
      "--behaviour is for the embedded fake; remove it when --profile names a service",
    ],
    ["missing plan", "receive --plan {empty}/none.json", "(there is no such file)"],
    ["plan that is not valid JSON", "receive --plan {broken}", "is not JSON (Expected property name"],
    [
      "plan with an unknown action",
      "receive --plan {badPlan}",
      'otherwise.kind is "answre"; accepted are "answer", "hang", "close", "reset"',
    ],
    [
      "private key without a certificate",
      "receive --key {file}",
      "--key needs --cert, the certificate that it belongs to",
    ],
    [
      "certificate for plain HTTP",
      "receive --http --cert {file} --key {file}",
      "--http uses no certificate; give either --http, or --cert with --key",
    ],
    [
      "token from an unset variable",
      "receive --token-env NO_SUCH_VARIABLE",
      "--token-env: the environment variable NO_SUCH_VARIABLE is not set; accepted is one that holds the token",
    ],
    ["profile in a missing folder", "conform --profile {empty}/none/gate.ts", "there is no folder "],
    [
      "folder whose name ends like that of a profile",
      "conform --profile {folder}",
      "it is a folder; give a file",
    ],
    [
      "module without a default export",
      "conform --profile {noDefault}",
      "its default export must be the profile itself, as in `export default defineProfile({ ... })`",
    ],
    [
      "module that throws",
      "conform --profile {throws}",
      "throws.mts: it ended with an error: no such cluster",
    ],
    [
      "import of a package that is not installed",
      "conform --profile {notInstalled}",
      "it imports something that is not there: Cannot find package 'not-installed-here'; install it beside the profile (npm install --save-dev), or correct the import",
    ],
    [
      "value of the wrong type",
      "conform --profile {wrongType}",
      'tolerances.visibilityMs is "5"; it must be a number',
    ],
    [
      "secret written in the profile",
      "conform --profile {secretAsText}",
      'clients[0].secret is (a string, not shown); it must have one of the accepted forms (where the secret is kept, never the secret itself: { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] })',
    ],
    [
      "missing secret file",
      "conform --profile {noSecretFile}",
      "none.key cannot be read: there is no such file",
    ],
    [
      "secret file that others can read",
      "conform --profile {openSecretFile}",
      "has mode 644, so others can get at the secret in it; accepted is 600 or narrower: chmod 600",
    ],
    [
      "the same client twice",
      "conform --profile {clientTwice}",
      'clients[1].id is "c", as is clients[0].id; accepted is another client, or none',
    ],
    [
      "placeholder that the hook does not have",
      "conform --profile {placeholder}",
      "hooks.clock.advance holds {{millis}}; accepted are {{ms}}, {{seconds}}",
    ],
    [
      "waiver with an invalid date",
      "conform --profile {waiver}",
      'waivers[0].expires: "2030-02-31" is not a date; accepted is YYYY-MM-DD',
    ],
    [
      "pin of an unknown rule",
      "conform --profile {pin}",
      'pins.observations: "authorize.bogus" is not a requirement id; similar ones are authorize.redirect, authorize.timestamp, refresh.reauthorize (`touchstone rules` lists all)',
    ],
  ],
  "Between profile and service": [
    [
      "baseUrl that includes the API path",
      "doctor --profile {tooFar}",
      "already begin with /open-api; set baseUrl to ",
    ],
    ["https address of a plain HTTP server", "doctor --profile {overTls}", "does not speak TLS", 4],
    ["server that closes each connection", "doctor --profile {closing}", "closes connections", 4],
    ["service that is not running", "doctor --profile {dead}", "nothing listens there", 4],
    ["wrong client secret", "doctor --profile {wrongSecret}", "as to a wrong one"],
    ["clock hook that does not answer in time", "doctor --profile {slowHook}", "did not end within 50 ms"],
    ["clock hook with a wrong address", "doctor --profile {noHook}", "answered with status 404"],
    [
      "clock hook that does not move the clock",
      "doctor --profile {stillHook}",
      "the service's clock does not follow the hook",
    ],
  ],
  "Runs, reports and disks": [
    ["report without a run", "report", "report takes one or more run directories, or --schema <name>"],
    [
      "report of a missing run",
      "report {empty}/none",
      "is not a run directory: it does not exist; give the folder that `touchstone conform` or `touchstone load` printed",
    ],
    [
      "report of a file",
      "report {file}",
      "is not a run directory: it is a file; give the folder that `touchstone conform` or `touchstone load` printed",
    ],
    [
      "report of a folder that is not a run",
      "report {empty}",
      "is not a run directory: it has no run.json; give the folder that `touchstone conform` or `touchstone load` printed",
    ],
    ["report of an altered run", "report {altered}", "was altered after it was sealed: run.json"],
    [
      "report of a run from a newer version",
      "report {newer}",
      "is a record of version 99, but this Touchstone reads only up to version 1; update Touchstone",
    ],
    [
      "unknown report format",
      "report {gate} --report pdf",
      '--report is "pdf"; accepted is one of html, junit, ctrf, markdown, codequality, har, script',
    ],
    [
      "report written to an existing file",
      "report {gate} --out {file}/below",
      "cannot be written (a part of the path is a file); choose a writable folder",
    ],
    [
      "report written to a pseudo file system",
      "report {gate} --out /proc/none/below",
      "--out: /proc/none/below cannot be written (there is no such folder); choose a writable folder",
    ],
    [
      "reports of a gate that cannot be written",
      "conform --report html --report-out {file}/below",
      "cannot be written (a part of the path is a file); choose a writable folder",
    ],
    [
      "run directory that is not empty",
      "conform --only code.unknown --out {gate}",
      "a folder with something in it; give one that does not exist yet or is empty",
    ],
    [
      "run directory on a pseudo file system",
      "conform --only code.unknown --out /proc/none/below",
      '--out is "/proc/none/below", which cannot be written (there is no such folder); choose a writable folder',
    ],
    [
      "unknown schema",
      "report --schema everything",
      "option '--schema <name>' argument 'everything' is invalid. Allowed choices are conform, load, duet, manifest, exchange, rule",
    ],
    [
      "comparison of one run",
      "compare {gate}",
      "compare takes two or more run directories, or one and --baseline <folder> with the earlier ones",
    ],
    ["comparison of a gate with a load", "compare {gate} {load}", "is a load run; give two runs of one kind"],
    ["folder for a page without --report", "compare {gate} {gate} --out {empty}", "--out needs --report"],
    [
      "history of a missing folder",
      "history {empty}/none",
      "cannot be read (there is no such folder); give a folder with run directories, such as runs",
    ],
    [
      "date that does not exist",
      "history {empty} --since 2030-02-40",
      '--since is "2030-02-40"; accepted is a day such as 2030-01-31',
    ],
    [
      "replay of a rule that did not fail",
      "replay {gate} code.unknown",
      'rule "code.unknown": it did not fail in this run (passed), so there is nothing to replay; rules that failed in this run: none',
    ],
    [
      "replay of a load run",
      "replay {load} code.single-use",
      "is a load run; give the run directory of a gate run",
    ],
    ["missing ledger", "ledger {empty}/none", "there is no such file"],
    [
      "file that is not a ledger",
      "ledger {file}",
      "file is not a database; accepted is a file made by `conform --ledger`",
    ],
    [
      "history of an unknown rule",
      "history {empty} --rule code.lifetme",
      '--rule "code.lifetme": unknown id; similar ones are code.lifetime',
    ],
    [
      "history of an unknown endpoint",
      "history {empty} --endpoint lists",
      '--endpoint is "lists"; accepted is one of authorize, exchange, refresh, list, trigger, all',
    ],
    [
      "history of an unknown metric",
      "history {empty} --metric p42",
      '--metric is "p42"; accepted is one of p50, p95, p99, requests per second',
    ],
    [
      "run directory on a device",
      "conform --only code.unknown --out /dev/null",
      '--out is "/dev/null", which cannot be written (it or a part of its path is a file); choose a writable folder',
    ],
  ],
};
