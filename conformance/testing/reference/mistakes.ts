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
    ["a misspelt command", "lod", "unknown command 'lod'"],
    ["a misspelt flag", "load --rat 5", "unknown option '--rat'"],
    ["a flag without its value", "load --rate", "option '--rate <number>' argument missing"],
    ["a profile without its flag", "conform gate.mts", "1: gate.mts. A profile is given with --profile."],
    [
      "a group as a rule",
      "conform --only exchange",
      "--only exchange: no such rule; a group is judged with --section exchange; `touchstone rules` lists all",
    ],
    [
      "an argument too many",
      "rules code.lifetime code.unknown",
      "too many arguments for 'rules'. Expected 1 argument but got 2: code.lifetime, code.unknown.",
    ],
    [
      "a flag whose variable is empty",
      "conform --only=",
      '--only is ""; accepted is a value; if it comes from a variable, set it',
    ],
    ["an argument too few", "replay {gate}", "missing required argument 'rule'"],
    [
      "quiet and verbose at once",
      "conform --verbose --quiet",
      "--verbose and --quiet contradict each other; remove one",
    ],
    [
      "a rule that there is none of",
      "rules code.lifetme",
      'rule "code.lifetme": unknown id; similar ones are code.lifetime, code.lifetime-is-not-extended, refresh.lifetime',
    ],
    [
      "a section that there is none of",
      "conform --section 99",
      "--section 99: no such section; accepted are authorize, code, exchange, refresh, access, notifications, push, whole, untestable",
    ],
    [
      "a level that there is none of",
      "conform --level strict",
      "--level strict: no such level; accepted are required, derived, advisory, unspecified, untestable",
    ],
    [
      "an effort that there is none of",
      "conform --effort huge",
      '--effort is "huge"; accepted is one of quick, standard, thorough',
    ],
    [
      "no rule that two selections share",
      "conform --only code.lifetime --section push",
      "--only, --section and --level together select no rule",
    ],
    [
      "a behaviour of the fake that there is none of",
      "conform --behaviour code-reusabel",
      '--behaviour: there is no behaviour "code-reusabel"; similar ones are code-reusable, code-reusable-twice, code-reusable-after-refresh',
    ],
    [
      "a seed that is not a whole number",
      "conform --seed 1.5",
      '--seed is "1.5"; accepted is a whole number from -2147483648 to 2147483647',
    ],
    [
      "a seed that is too great",
      "conform --seed 99999999999",
      '--seed is "99999999999"; accepted is a whole number from -2147483648 to 2147483647',
    ],
    [
      "a duration without its unit",
      "conform --max-wait 20",
      '--max-wait is "20"; accepted is a duration with its unit, such as 500ms, 90s, 20m, 2h or 30d',
    ],
    [
      "a negative duration",
      "conform --max-wait=-5s",
      '--max-wait is "-5s"; accepted is a duration with its unit, such as 500ms, 90s, 20m, 2h or 30d',
    ],
    [
      "the key of a ledger without a ledger",
      "conform --ledger-key-file {file}",
      "--ledger-key-file needs --ledger <file>",
    ],
    [
      "a ledger without its key",
      "conform --only code.lifetime --ledger {empty}/ledger",
      "it holds credentials and needs a key; set TOUCHSTONE_LEDGER_KEY, or give a file with --ledger-key-file",
    ],
    [
      "a run that is continued as another one",
      "conform --resume {gate} --seed 5",
      "continues that run with its own flags; remove --seed",
    ],
    [
      "a run that ended, continued",
      "conform --resume {gate}",
      "it is complete (passed); accepted is a run that was interrupted or killed",
    ],
    [
      "a load, continued as a gate",
      "conform --resume {load}",
      "is a load run; give the run directory of a gate run",
    ],
    [
      "a port out of range",
      "serve --port 70000",
      '--port is "70000"; accepted is a whole number from 0 to 65535',
    ],
    [
      "a port that is not a number",
      "receive --port http",
      '--port is "http"; accepted is a whole number from 0 to 65535',
    ],
    [
      "a rule to judge that there is none of",
      "conform --only code.singleuse",
      "--only code.singleuse: no such rule; did you mean code.single-use, code.single-use-under-race, code.reuse-revokes-tokens? `touchstone rules` lists all",
    ],
    [
      "a rule that cannot be tested",
      "conform --only untestable.rate-limits",
      "--only untestable.rate-limits: it cannot be tested (`touchstone rules untestable.rate-limits` says why)",
    ],
    [
      "a list of behaviours by a word that none has",
      "serve --list zzz",
      '--list "zzz": no behaviour has that in its name, summary or rules; similar ones are',
    ],
    [
      "clients of the fake that are not there",
      "serve --clients {empty}/none.json",
      "none.json (there is no such file)",
    ],
    ["a port in use", "serve --port {usedPort}", "is in use; give another one, or 0 for any free port"],
    [
      "a part of a detection that there is none of",
      "detect --shard 3/2",
      '--shard is "3/2"; accepted is i/n with i from 1 to n, such as 1/2',
    ],
    [
      "the health of no address",
      "health 9444",
      'the address is "9444"; accepted is one such as http://127.0.0.1:9444',
    ],
    ["the health of what is not there", "health {deadAddress}", "does not answer: ", 4],
    [
      "a new profile without a terminal to ask on",
      "init --out {empty}/new.json",
      "init: there is no terminal for questions, so it needs --base-url <address>, --client-id <id>, --secret-env <name>, --redirect-uri <address> (those of clients once per client), or --yes to accept the defaults",
    ],
    [
      "a new profile over one that is there",
      "init --yes --out {dead}",
      "already exists; --force replaces it",
    ],
    [
      "a new profile in a format that there is none of",
      "init --yes --out p.yaml",
      '--out is "p.yaml"; accepted is a name that ends with .ts, .mts or .json',
    ],
    [
      "a new profile with the secret itself",
      "init --yes --secret-env s3-cret! --out {empty}/new.json",
      "--secret-env: that is not a variable name; accepted is a name such as CLIENT_1_SECRET, never the secret itself",
    ],
    [
      "a new profile with an address that goes too far",
      "init --yes --base-url https://x.example/open-api/authorize --out {empty}/new.json",
      '--base-url: baseUrl is "https://x.example/open-api/authorize"; accepted is the part before /open-api/: "https://x.example"',
    ],
    [
      "a profile into a folder that is not there",
      "serve --port 0 --write-profile {empty}/none/fake.json",
      "fake.json cannot be written (there is no such folder)",
    ],
    [
      "the health of a port that there is none of",
      "health http://127.0.0.1:99999",
      'the address is "http://127.0.0.1:99999"; accepted is one such as http://127.0.0.1:9444',
    ],
    [
      "a new profile with a callback that is not an address",
      "init --yes --redirect-uri callback --out {empty}/new.json",
      '--redirect-uri: redirectUri is "callback"; accepted is an absolute URL that starts with http:// or https://',
    ],
  ],
  Loads: [
    [
      "a scenario that there is none of",
      "load --scenario tokens",
      '--scenario is "tokens"; accepted are token, notifications, mixed, push, breakpoint',
    ],
    [
      "a shape that there is none of",
      "load --shape square",
      '--shape is "square"; accepted are constant, ramp, spike, soak, breakpoint',
    ],
    ["a rate of nothing", "load --rate 0", '--rate is "0"; accepted is a whole number from 1 to 1000000'],
    [
      "a rate with a unit",
      "load --rate 100/s",
      '--rate is "100/s"; accepted is a whole number from 1 to 1000000',
    ],
    [
      "a load that is over at once",
      "load --duration 500ms",
      "--duration is shorter than a second; accepted is 1s or longer",
    ],
    [
      "a warm-up as long as the load",
      "load --duration 5s --warm-up 5s",
      "--warm-up leaves nothing of --duration; accepted is a shorter one",
    ],
    [
      "virtual users by a word",
      "load --vus many",
      '--vus is "many"; accepted is a whole number from 1 to 100000',
    ],
    [
      "a search that is too short",
      "load --scenario breakpoint --duration 4s",
      "--duration is 4s; a search has at least two steps of 3s, so accepted is 6s or longer",
    ],
    [
      "a stage without its rate",
      "load --stage 30s",
      '--stage is "30s"; accepted is a duration and requests per second, such as 30s:100',
    ],
    [
      "stages that ask for nothing",
      "load --stage 30s:0",
      "--stage: all stages ask for 0 requests per second; accepted is one that asks for more",
    ],
    [
      "stages and a shape at once",
      "load --stage 30s:10 --shape ramp",
      "--stage sets a custom load; remove --shape, --rate, --duration, and --scenario breakpoint",
    ],
    [
      "stages and a rate at once",
      "load --stage 30s:10 --rate 5",
      "--stage sets a custom load; remove --shape, --rate, --duration, and --scenario breakpoint",
    ],
    [
      "a tag without its value",
      "load --tag build",
      '--tag is "build"; accepted is a name and a value, such as build=1234',
    ],
    [
      "a segment out of its number",
      "load --segment 5/4 --run-id a --start-at 2099-01-01T00:00:00Z",
      '--segment is "5/4"; accepted is I/N, segment I of N, with N from 2 to 1000 and I from 1 to N, such as 2/4; or auto',
    ],
    [
      "a host that may not be loaded",
      "load --profile {elsewhere} --duration 1s",
      'host "staging.example" may not be loaded; accepted are loopback and the hosts in the profile\'s safety.hosts (none so far)',
    ],
    ["a duet of one", "duet fake:sound", "missing required argument 'b'"],
    [
      "a duet of a single pair",
      "duet fake:sound fake:sound --pairs 1",
      '--pairs is "1"; accepted is a whole number from 2 to 1000',
    ],
    [
      "a start command for the fake",
      "duet fake:sound fake:sound --start-a true",
      '--start-a needs a profile; "fake:sound" is started without a command',
    ],
    [
      "a rate that is not a number",
      "run --rate fast",
      '--rate is "fast"; accepted is a whole number from 1 to 1000000',
    ],
    [
      "a rate beyond what a load may ask for",
      "load --rate 30000",
      "--rate is 30000; accepted is up to 20000 requests per second (safety.maxRate)",
    ],
    [
      "a push load without the hooks that it takes",
      "load --profile {dead} --scenario push",
      "--scenario push needs `hooks.events.trigger` as an HTTP hook (a command cannot be called under load) and `hooks.callback.register` in the profile",
    ],
    [
      "a service that is down, loaded",
      "load --profile {dead} --scenario token",
      "cannot be reached: dial: connection refused. Start the service, or correct baseUrl in the profile",
      4,
    ],
    [
      "a duet of pushes",
      "duet fake:sound fake:sound --scenario push",
      '--scenario is "push"; a duet accepts token, notifications, mixed',
    ],
    [
      "a duet of blocks too short",
      "duet fake:sound fake:sound --block 1s",
      "--block is 1s; accepted is 2s or longer",
    ],
    [
      "a duet with a fake that there is none of",
      "duet fake:sound fake:none",
      '--behaviour: there is no behaviour "none"; similar ones are',
    ],
    [
      "a duet with a profile that is not there",
      "duet fake:sound {empty}/none.json",
      "none.json: there is no such file (`touchstone init` writes one)",
    ],
    [
      "a duet with a fake without its name",
      "duet fake: fake:sound",
      "fake: needs a behaviour, such as fake:sound",
    ],
    [
      "a merge of runs that are not segments",
      "merge {load} {gate}",
      "is a gate run; accepted are run directories of `load --segment`",
    ],
  ],
  "Profiles and addresses": [
    [
      "a profile that is not there",
      "conform --profile {empty}/none.json",
      "there is no such file (`touchstone init` writes one)",
    ],
    [
      "a profile in no format that is known",
      "conform --profile {file}",
      "accepted are .json, .ts, .mts, .js and .mjs",
    ],
    [
      "an address as a profile",
      "conform --profile https://staging.example",
      "this is an address; accepted is a file that names it",
    ],
    ["a folder as a profile", "conform --profile {empty}", "accepted are .json, .ts, .mts, .js and .mjs"],
    [
      "a profile that is not JSON",
      "conform --profile {broken}",
      "it is not valid JSON (Expected property name or '}' at position 1",
    ],
    [
      "a profile with an unknown key",
      "conform --profile {unknownKey}",
      'the profile has the unknown key "baseURL" (did you mean "baseUrl"?); accepted are $schema, name, baseUrl, clients, headers',
    ],
    ["a profile without clients", "conform --profile {noClients}", 'the profile lacks the key "clients"'],
    [
      "an address without its scheme",
      "conform --profile {noScheme}",
      'baseUrl is "staging.example"; accepted is an absolute URL that starts with http:// or https://',
    ],
    [
      "a secret in an unset variable",
      "conform --profile {unset}",
      "clients[0].secret: the environment variable TOUCHSTONE_UNSET is not set; set it to the secret itself",
    ],
    [
      "a service that is down, judged",
      "conform --profile {dead}",
      "base address: http://127.0.0.1:9 cannot be reached: nothing listens there (connect ECONNREFUSED 127.0.0.1:9); start the service",
      4,
    ],
    [
      "a behaviour for a service other than the fake",
      "conform --profile {dead} --behaviour sound",
      "--behaviour is for the embedded fake; remove it when --profile names a service",
    ],
    ["a plan that is not there", "receive --plan {empty}/none.json", "(there is no such file)"],
    ["a plan that is not JSON", "receive --plan {broken}", "is not JSON (Expected property name"],
    [
      "a plan with an unknown action",
      "receive --plan {badPlan}",
      'otherwise.kind is "answre", no known action; accepted are answer, hang, close, reset',
    ],
    [
      "a key without its certificate",
      "receive --key {file}",
      "--key needs --cert, the certificate that it belongs to",
    ],
    [
      "a certificate over plain HTTP",
      "receive --http --cert {file} --key {file}",
      "--http uses no certificate; give either --http, or --cert with --key",
    ],
    [
      "a token in an unset variable",
      "receive --token-env NO_SUCH_VARIABLE",
      "--token-env: the environment variable NO_SUCH_VARIABLE is not set; accepted is one that holds the token",
    ],
    [
      "a profile in a folder that is not there",
      "conform --profile {empty}/none/gate.ts",
      "there is no folder ",
    ],
    ["a folder named as a profile", "conform --profile {folder}", "it is a folder; give a file"],
    [
      "a module without a default export",
      "conform --profile {noDefault}",
      "its default export must be the profile itself, as in `export default defineProfile({ ... })`",
    ],
    [
      "a module that throws",
      "conform --profile {throws}",
      "throws.mts: it ended with an error: no such cluster",
    ],
    [
      "an import of what is not installed",
      "conform --profile {notInstalled}",
      "it imports something that is not there: Cannot find package 'not-installed-here'; install it beside the profile (npm install --save-dev), or correct the import",
    ],
    [
      "a value of the wrong type",
      "conform --profile {wrongType}",
      'tolerances.visibilityMs is "5"; it must be a number',
    ],
    [
      "a secret written as text",
      "conform --profile {secretAsText}",
      'clients[0].secret is (a string, not shown); it must have one of the accepted forms (where the secret is kept, never the secret itself: { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] })',
    ],
    [
      "a secret's file that is not there",
      "conform --profile {noSecretFile}",
      "none.key cannot be read: there is no such file",
    ],
    [
      "a secret's file that all may read",
      "conform --profile {openSecretFile}",
      "has mode 644, so others can get at the secret in it; accepted is 600 or narrower: chmod 600",
    ],
    [
      "one client twice",
      "conform --profile {clientTwice}",
      'clients[1].id is "c", as is clients[0].id; accepted is another client, or none',
    ],
    [
      "a placeholder that a hook is not given",
      "conform --profile {placeholder}",
      "hooks.clock.advance holds {{millis}}; accepted are {{ms}}, {{seconds}}",
    ],
    [
      "a waiver until no day",
      "conform --profile {waiver}",
      'waivers[0].expires: "2030-02-31" is not a date; accepted is YYYY-MM-DD',
    ],
    [
      "a pin of no rule",
      "conform --profile {pin}",
      'pins.observations: "authorize.bogus" is not a requirement id; similar ones are authorize.redirect, authorize.timestamp, refresh.reauthorize (`touchstone rules` lists all)',
    ],
  ],
  "Between profile and service": [
    [
      "a base address that goes too far",
      "doctor --profile {tooFar}",
      "already begin with /open-api; set baseUrl to ",
    ],
    ["https on a port that speaks http", "doctor --profile {overTls}", "does not speak TLS", 4],
    ["http on a port that closes it", "doctor --profile {closing}", "closes connections", 4],
    ["a service that is not started", "doctor --profile {dead}", "nothing listens there", 4],
    ["a wrong secret", "doctor --profile {wrongSecret}", "as to a wrong one"],
    ["a clock hook that takes too long", "doctor --profile {slowHook}", "did not end within 50 ms"],
    ["a clock hook that is not there", "doctor --profile {noHook}", "answered with status 404"],
    [
      "a clock hook that moves nothing",
      "doctor --profile {stillHook}",
      "the service's clock does not follow the hook",
    ],
  ],
  "Runs, reports and disks": [
    ["a report of nothing", "report", "report takes one or more run directories, or --schema <name>"],
    [
      "a report of a missing run",
      "report {empty}/none",
      "is not a run directory: it does not exist; give the folder that `touchstone conform` or `touchstone load` printed",
    ],
    [
      "a report of a file",
      "report {file}",
      "is not a run directory: it is a file; give the folder that `touchstone conform` or `touchstone load` printed",
    ],
    [
      "a report of a folder without a run",
      "report {empty}",
      "is not a run directory: it has no run.json; give the folder that `touchstone conform` or `touchstone load` printed",
    ],
    ["a report of an altered run", "report {altered}", "was altered after it was sealed: run.json"],
    [
      "a report of a newer version's run",
      "report {newer}",
      "is a record of version 99, but this Touchstone reads only up to version 1; update Touchstone",
    ],
    [
      "a format that there is none of",
      "report {gate} --report pdf",
      '--report is "pdf"; accepted is one of html, junit, ctrf, markdown, codequality, har, script',
    ],
    [
      "a report into a file",
      "report {gate} --out {file}/below",
      "cannot be written (a part of the path is a file); choose a writable folder",
    ],
    [
      "a report into a pseudo file system",
      "report {gate} --out /proc/none/below",
      "--out: /proc/none/below cannot be written (there is no such folder); choose a writable folder",
    ],
    [
      "reports of a run that would go nowhere",
      "conform --report html --report-out {file}/below",
      "cannot be written (a part of the path is a file); choose a writable folder",
    ],
    [
      "a record into a folder in use",
      "conform --only code.unknown --out {gate}",
      "a folder with something in it; give one that does not exist yet or is empty",
    ],
    [
      "a record into a pseudo file system",
      "conform --only code.unknown --out /proc/none/below",
      '--out is "/proc/none/below", which cannot be written (there is no such folder); choose a writable folder',
    ],
    [
      "a schema that there is none of",
      "report --schema everything",
      "option '--schema <name>' argument 'everything' is invalid. Allowed choices are conform, load, duet, manifest, exchange, rule",
    ],
    [
      "a comparison of one run",
      "compare {gate}",
      "compare takes two or more run directories, or one and --baseline <folder> with the earlier ones",
    ],
    [
      "a comparison of a gate with a load",
      "compare {gate} {load}",
      "is a load run; give two runs of one kind",
    ],
    [
      "a folder for a page that was not asked for",
      "compare {gate} {gate} --out {empty}",
      "--out needs --report",
    ],
    [
      "a history of a folder that is not there",
      "history {empty}/none",
      "cannot be read (there is no such folder); give a folder with run directories, such as runs",
    ],
    [
      "a day that there is none of",
      "history {empty} --since 2030-02-40",
      '--since is "2030-02-40"; accepted is a day such as 2030-01-31',
    ],
    [
      "a replay of a rule that did not fail",
      "replay {gate} code.unknown",
      'rule "code.unknown": it did not fail in this run (passed), so there is nothing to replay; rules that failed in this run: none',
    ],
    [
      "a replay of a load",
      "replay {load} code.single-use",
      "is a load run; give the run directory of a gate run",
    ],
    ["a ledger that is not there", "ledger {empty}/none", "there is no such file"],
    [
      "a ledger that is none",
      "ledger {file}",
      "file is not a database; accepted is a file made by `conform --ledger`",
    ],
    [
      "a history of a rule that there is none of",
      "history {empty} --rule code.lifetme",
      '--rule "code.lifetme": unknown id; similar ones are code.lifetime',
    ],
    [
      "a history of an endpoint that there is none of",
      "history {empty} --endpoint lists",
      '--endpoint is "lists"; accepted is one of authorize, exchange, refresh, list, trigger, all',
    ],
    [
      "a history of a metric that there is none of",
      "history {empty} --metric p42",
      '--metric is "p42"; accepted is one of p50, p95, p99, requests per second',
    ],
    [
      "a record into a device",
      "conform --only code.unknown --out /dev/null",
      '--out is "/dev/null", which cannot be written (it or a part of its path is a file); choose a writable folder',
    ],
  ],
};
