import { harmlessJson } from "../contract/harmless-text.ts";
import type { Profile } from "../contract/profile.ts";

/** The minimum of a profile, which `init` takes from flags. */
export interface MinimalProfile extends Pick<Profile, "name" | "baseUrl"> {
  clients: { id: string; secret: { env: string }; redirectUri: string }[];
}

type Example = readonly [why: string, part: Partial<Profile>];

/**
 * What most services need sooner or later, commented out: each part a sentence and an example that is a valid part of a
 * profile.
 */
export const examples = (baseUrl: string): readonly Example[] => [
  hooksExample(baseUrl),
  [
    "How to get past a consent page at authorize: headers or a query (with secrets from where they are kept), or a command that prints the code or the address that the service redirects to.",
    {
      authorize: {
        query: { consent: "yes" },
        headers: { cookie: { env: "CONSENT_COOKIE", prefix: "session=" } },
        code: { command: ["./get-code.sh", "{{clientId}}", "{{state}}", "{{redirectUri}}"] },
      },
    },
  ],
  [
    "The service pushes to the machine that Touchstone runs on, under this name.",
    { receiver: { listen: { host: "0.0.0.0", publicHost: "ci.example", port: 9443 } } },
  ],
  [
    "Private certificate authorities, a client certificate, a proxy, addresses of host names.",
    {
      network: {
        caFile: "ca.pem",
        clientCertificate: { certFile: "client.pem", keyFile: "client.key" },
        proxy: { url: { env: "HTTPS_PROXY" }, except: [".internal.example"] },
        resolve: { "staging.example": "192.0.2.1" },
      },
    },
  ],
  [
    "How long the service may be away, for example during a restart, and how much a run does concurrently.",
    { tolerances: { outageMs: 60_000 }, concurrency: { maxConnections: 64, maxCases: 24 } },
  ],
  [
    "A staging service with shorter times than the document's; every report says so first.",
    { limits: { codeLifetimeMs: 60_000 } },
  ],
  [
    "A known breach that is excused for a while.",
    {
      waivers: [
        {
          id: "code.single-use",
          reason: "the fix is on its way",
          owner: "the token team",
          expires: "2030-01-31",
        },
      ],
    },
  ],
  [
    "Which hosts `touchstone load` may load, and how hard.",
    { safety: { hosts: [new URL(baseUrl).hostname], maxRate: 200 } },
  ],
];

const hooksExample = (baseUrl: string): Example => [
  "If the service's clock can be moved, rules of 30 days take seconds; if events can be triggered and the callback set, notifications and pushes are judged. `restore` undoes what a run set.",
  {
    hooks: {
      clock: {
        now: { http: { url: `${baseUrl}/test/clock` }, result: "/now" },
        advance: { http: { url: `${baseUrl}/test/clock/advance`, body: { ms: "{{ms}}" } } },
      },
      events: {
        trigger: {
          http: { url: `${baseUrl}/test/events`, body: { accountId: "{{accountId}}" } },
          result: "/id",
        },
      },
      callback: {
        register: {
          http: { method: "PUT", url: `${baseUrl}/test/callback`, body: { url: "{{url}}", ca: "{{ca}}" } },
        },
        restore: { http: { method: "DELETE", url: `${baseUrl}/test/callback` } },
      },
    },
  },
];

/** A commented profile in TypeScript. `importFrom` is where its file imports defineProfile from. */
export const profileText = (profile: MinimalProfile, importFrom: string): string => {
  const entries = Object.entries(profile).map(
    ([key, value]) => `  ${sentenceOf[key] ?? ""}${key}: ${literal(value, "  ")},`,
  );
  const commented = examples(profile.baseUrl).map(([why, part]) =>
    [
      ...wrapped(why),
      ...Object.entries(part).flatMap(([key, value]) => `${key}: ${literal(value, "")},`.split("\n")),
    ]
      .map((line) => `  // ${line}`)
      .join("\n"),
  );
  return `import { defineProfile } from ${literal(importFrom, "")};

// Everything that Touchstone needs to know about one service. Never write secrets here: say where they are kept.
// \`touchstone doctor --profile FILE\` checks whether everything is there.
export default defineProfile({
${[...entries, ...commented].join("\n\n")}
});
`;
};

const sentenceOf: Readonly<Record<string, string>> = {
  name: "// Name of the service in reports.\n  ",
  baseUrl: "// The part before /open-api/ of the service's addresses.\n  ",
  clients:
    "// OAuth clients of the service; rules that compare two clients need the second. A secret is { env }, { file } (mode 600) or { command }.\n  ",
};

/** A value in TypeScript notation: on one line if it fits, otherwise on several, indented by `margin`. */
const literal = (value: unknown, margin: string): string => {
  if (typeof value !== "object" || value === null) return harmlessJson(JSON.stringify(value));
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, `${margin}  `))
    : Object.entries(value).map(([key, inner]) => `${keyText(key)}: ${literal(inner, `${margin}  `)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{ ", " }"];
  const inOneLine = `${open}${items.join(", ")}${close}`;
  return inOneLine.includes("\n") || inOneLine.length > LITERAL_WIDTH
    ? `${open.trim()}\n${items.map((item) => `${margin}  ${item},\n`).join("")}${margin}${close.trim()}`
    : inOneLine;
};

const keyText = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key));

const LITERAL_WIDTH = 90;
const WIDTH = 100;

const wrapped = (text: string): string[] =>
  text.split(" ").reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > WIDTH) return [...lines, word];
    return [...lines.slice(0, -1), `${last} ${word}`];
  }, []);
