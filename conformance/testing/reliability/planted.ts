import { mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startFakeServer } from "../../../fake-server/index.ts";
import { profileOf, secretVariable } from "../../../fake-server/serve.ts";
import { startReceiver } from "../../../fake-server/receiver/index.ts";
import { notification, openSender } from "../../../fake-server/receiver/testing/sender.ts";
import { escapedForm, startEchoProxy } from "./echo.ts";
import { loadFiles } from "../../contract/load-record.ts";
import { searchFor } from "./search.ts";
import { startCli, type Started } from "../start-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { unsafeCharacters } from "../../../reports/testing/fixture.ts";
import { filesBelow, processesBelow } from "./processes.ts";

/** What was printed or shown to others, and by what. */
interface Said {
  readonly file: string;
  readonly bytes: Buffer;
}

/** Starts the command line with planted secrets and keeps its output for the search. `ending` is the expected end, if unusual. */
export type RunPlanted = (
  name: string,
  parameters: readonly string[],
  during?: (run: Started) => Promise<void>,
  ending?: { readonly code: number | null; readonly env?: NodeJS.ProcessEnv },
) => Promise<void>;

export interface PlantedPlace {
  /** A folder that is not searched. */
  readonly given: string;
  readonly profile: string;
  /** The first client's. */
  readonly secret: string;
  readonly spoil: (spoils: boolean) => void;
}

const marks = {
  client1: 'pl4nted/client+one="secret"%1',
  client2: "planted-client-two-0123456789abcdef",
  header: "planted.header.0a1b2c3d4e5f6a7b8c9d",
  consent: "planted-consent-cookie-99887766554433",
  query: "planted-consent-query-1029384756",
  hook: "planted-hook-bearer-5647382910",
  body: "planted-hook-body-token-777888999",
  receiver: "planted-receiver-token-13579",
  ledger: "planted ledger passphrase 24680",
  proxy: "planted:proxy@password/86420",
  sender: "planted-sender-authorization-11223344",
  /** The service's cookie. */
  cookie: "planted-cookie-0123456789abcdef",
} as const;

/**
 * Runs what writes against a service that echoes everything it is told, and what `more` adds, and searches every byte for
 * secrets. Returns where a secret was found that should not be there, and anything else that went wrong.
 */
export const plantSecrets = async (
  k6: string,
  more: (run: RunPlanted, place: PlantedPlace) => Promise<void> = () => Promise.resolve(),
) => {
  using own = temporaryFolder();
  const folder = own.path;
  const made = (name: string): string => {
    mkdirSync(path.join(folder, name));
    return path.join(folder, name);
  };
  const [out, temporary, given] = [made("out"), made("temporary"), made("given")];
  const fake = await startFakeServer({
    clients: [
      { id: "client-1", secret: marks.client1, redirectUri: "https://client.example/callback" },
      { id: "client-2", secret: marks.client2, redirectUri: "https://client.example/second" },
    ],
  });
  const proxy = await startEchoProxy({ service: fake.baseUrl, control: fake.controlUrl });
  const attached = await startReceiver({ scheme: "https", token: marks.receiver, certificateFolder: given });
  const profiles = writeProfiles(given, proxy.origin, attached.controlUrl, profileOf(fake));
  const env = {
    TMPDIR: temporary,
    TOUCHSTONE_K6: k6,
    [secretVariable(0)]: marks.client1,
    [secretVariable(1)]: marks.client2,
    PLANTED_RECEIVER: marks.receiver,
    TOUCHSTONE_LEDGER_KEY: marks.ledger,
    PLANTED_PROXY: proxy.origin.replace("//", `//user:${encodeURIComponent(marks.proxy)}@`),
  };
  const found: string[] = [];
  const said: Said[] = [];
  let runs = 0;
  const run: RunPlanted = async (name, parameters, during, ending) => {
    runs += 1;
    const started = startCli(parameters, { env: { ...env, ...ending?.env }, cwd: out });
    const watched = watch(started, temporary, said, found, name);
    await during?.(started);
    const { code } = await started.ended;
    await watched;
    const { stderr } = started.said();
    for (const [stream, text] of Object.entries(started.said()))
      said.push({ file: `${name}: ${stream}`, bytes: Buffer.from(text) });
    const isExpected = ending === undefined ? code !== 5 && code !== 2 : code === ending.code;
    if (!isExpected && name !== "doctor") found.push(`${name} ends with ${code}: ${stderr}`);
  };
  const spoil = (spoils: boolean): void => void (proxy.spoils = spoils);
  const reports = ["--report", "html,junit,ctrf,markdown,har"];
  try {
    const quick = ["--effort", "quick", "--seed", "1"];
    const gate = "--verbose --out gate --only exchange.refusal-leaks-nothing,exchange.token-set".split(" ");
    await run("conform", ["conform", "-p", profiles.whole, ...quick, ...gate, ...reports]);
    const waiting = "--json --out ledger --max-wait 1s --ledger kept.sqlite".split(" ");
    const only = ["--only", "code.single-use,refresh.lifetime,exchange.token-set"];
    await run("conform --json", ["conform", "-p", profiles.network, ...quick, ...waiting, ...only]);
    await run("doctor", ["doctor", "-p", profiles.brokenHook]).catch(() => undefined);
    proxy.spoils = false;
    const load = "load --scenario mixed --duration 3s --rate 40 --out load"
      .split(" ")
      .concat("-p", profiles.whole, reports);
    // The check before the load must succeed, however long it takes: the record of the load has lines only after it.
    await run("load", load, async ({ child }) => {
      while (child.exitCode === null && !hasLines(path.join(out, "load", loadFiles.seconds))) await delay(20);
      proxy.spoils = true;
    });
    await run("receive", ["receive", "--http", "--json", "--token-env", "PLANTED_RECEIVER"], pushed);
    await more(run, { given, profile: profiles.whole, secret: marks.client1, spoil });
    const secrets = [...new Set([...Object.values(marks), ...proxy.issued])];
    const search = searchFor(secrets.flatMap(formsOf));
    const texts = [...filesBelow(out), ...filesBelow(temporary), ...said];
    for (const { file, bytes } of texts) {
      const acting = isShown(file) ? actingOnReader(file, bytes.toString("utf8")) : undefined;
      if (acting !== undefined)
        found.push(`${file} holds what acts on its reader: ${JSON.stringify(acting)}`);
      const hits = new Map(search(bytes).map(({ text, at }) => [text, at]));
      for (const [text, at] of hits)
        found.push(`${path.relative(folder, file)}: ${text}${around(bytes, at, text.length)}`);
    }
    const bytes = texts.reduce((sum, text) => sum + text.bytes.length, 0);
    return { secrets: secrets.length, bytes, runs, found };
  } finally {
    for (const one of [attached, proxy, fake]) await one.stop();
  }
};

const hasLines = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** What people read, and what a program reads but anyone may print; lines of requests and databases are neither. */
const isShown = (file: string): boolean =>
  /: std(?:out|err)$|\.(?:html|xml|md|json|har|mjs)$|(?:rules|breaches)\.jsonl$/.test(file);
/** Tabs of a body stay in a page, where they only indent. */
const actingOnReader = (file: string, text: string): string | undefined => {
  const isPage = file.endsWith(".html");
  const shown = isPage ? text.replaceAll("\t", " ") : text;
  const at = shown.search(
    isPage ? new RegExp(`${unsafeCharacters.source}|<img src=x`, "u") : unsafeCharacters,
  );
  return at < 0 ? undefined : shown.slice(Math.max(0, at - 60), at + 20);
};

const around = (bytes: Buffer, at: number, length: number): string =>
  ` in ${JSON.stringify(bytes.toString("latin1", Math.max(0, at - 60), at + length + 20))}`;

/** The forms to search for; deliberately independent of the code under test. */
const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString("base64").replaceAll("=", "").slice(0, -1),
    bytes.toString("base64url").slice(0, -1),
    Buffer.from(`a${secret}`).toString("base64").slice(2, -4),
    Buffer.from(`ab${secret}`).toString("base64").slice(3, -4),
    escapedForm(secret),
    ...nearlyAll(secret),
  ];
};

/** What near misses of a secret have in common with it: the first or the last three quarters. */
const nearlyAll = (secret: string): readonly string[] => {
  const share = Math.ceil(secret.length * 0.75);
  return share < 12 ? [] : [secret.slice(0, share), secret.slice(-share)];
};

/** Watches processes and temporary files while a run is alive. */
const watch = async (
  { ended, child }: Started,
  temporary: string,
  said: Said[],
  found: string[],
  name: string,
): Promise<void> => {
  const over = new AbortController();
  void ended.then(() => over.abort());
  const seen = new Set<string>();
  while (!over.signal.aborted) {
    for (const { title, argv } of child.pid === undefined ? [] : processesBelow(child.pid))
      if (!seen.has(argv + title)) {
        seen.add(argv + title);
        said.push({ file: `${name}: process`, bytes: Buffer.from(`${title} ${argv}`, "latin1") });
      }
    for (const { file, bytes } of filesBelow(temporary))
      if (
        Object.values(marks).some((mark) => bytes.includes(mark)) &&
        (statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077
      )
        found.push(`${name}: ${file} holds a secret and is open to others`);
    await delay(50);
  }
};

/** Pushes that prove their sender, as the service in question might. */
const pushed = async (run: Started): Promise<void> => {
  const sender = openSender((await run.document()) as Parameters<typeof openSender>[0]);
  for (const header of ["authorization", "cookie", "Proxy-Authorization"])
    await sender.send(notification(), { headers: { [header]: `Bearer ${marks.sender}` } });
  sender.close();
  run.child.kill("SIGTERM");
};

const writeProfiles = (
  folder: string,
  origin: string,
  receiverControl: string,
  base: ReturnType<typeof profileOf>,
) => {
  const control = (route: string, extra: object = {}) => ({
    http: { url: `${origin}/control${route}`, headers: { authorization: `Bearer ${marks.hook}` }, ...extra },
  });
  const whole = {
    ...base,
    name: "planted",
    baseUrl: `${origin}/service`,
    headers: { "x-gateway-key": marks.header },
    authorize: { headers: { cookie: `consent=${marks.consent}; other=1` }, query: { session: marks.query } },
    hooks: {
      clock: {
        now: { ...control("/clock"), result: "/now" },
        advance: control("/clock/advance", { body: { ms: "{{ms}}", token: marks.body } }),
      },
      events: {
        trigger: {
          ...control("/events", { body: { accountId: "{{accountId}}", clientId: "{{clientId}}" } }),
          result: "/id",
        },
      },
      callback: { register: control("/callback", { method: "PUT", body: { url: "{{url}}", ca: "{{ca}}" } }) },
    },
    receiver: { attach: { controlUrl: receiverControl, token: { env: "PLANTED_RECEIVER" } } },
  };
  const { hooks: _, ...still } = whole;
  const all = {
    whole,
    network: {
      ...still,
      baseUrl: `${origin.replace("127.0.0.1", "staging.test")}/service`,
      network: { proxy: { url: { env: "PLANTED_PROXY" } }, resolve: { "staging.test": "127.0.0.1" } },
    },
    brokenHook: {
      ...whole,
      hooks: { ...whole.hooks, events: { trigger: control("/nowhere", { body: { token: marks.body } }) } },
    },
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, profile]) => {
      const file = path.join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(profile));
      return [name, file];
    }),
  ) as Record<keyof typeof all, string>;
};
