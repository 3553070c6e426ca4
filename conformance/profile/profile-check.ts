import { validateHeaderName, validateHeaderValue } from "node:http";
import net from "node:net";
import { Ajv } from "ajv";
import { isRequirementId, requirement, requirementIds } from "../contract/catalogue.ts";
import { parseStage } from "../contract/load-shape.ts";
import { nearest } from "../contract/nearest.ts";
import { hookPlaceholders, hooksOf, type HookName } from "../contract/hooks.ts";
import { Profile, secretKey, type HookAsWritten, type SecretValue } from "../contract/profile.ts";
import { SecretSource } from "../contract/profile-hook.ts";
import { ownSchemas } from "../contract/schema.ts";
import { explain, guess, keyText, type KeyPath, type KeyProblem } from "../contract/schema-errors.ts";
import { problemAt, shownValue } from "./profile-problems.ts";
import { ConfigurationError } from "../contract/problem.ts";

const validate = new Ajv({ ...ownSchemas, allErrors: true, verbose: true }).compile(Profile);

/**
 * Checks a value as a Profile. Throws a ConfigurationError that lists everything wrong with it. `source` names the file
 * of a key, for a profile made from several.
 */
export const checkProfile = (
  value: unknown,
  source: string | ((at: KeyPath) => string) = "profile",
): Profile => {
  const problems = validate(value) ? problemsOf(value) : explain(validate.errors ?? [], profileValues);
  const nameOf = typeof source === "string" ? () => source : source;
  if (problems.length > 0)
    throw new ConfigurationError(problems.map(({ at, text }) => `${nameOf(at)}: ${text}`));
  return value as Profile;
};

const profileValues = { root: "the profile", shown: shownValue };

const problemsOf = (profile: Profile): readonly KeyProblem[] => [
  ...addressProblems(profile),
  ...idProblems(profile),
  ...Object.keys(profile.pins?.observations ?? {}).flatMap(observationProblems),
  ...Object.entries(profile.pins?.readings ?? {}).flatMap(readingProblems),
  ...(profile.waivers ?? []).flatMap(waiverProblems),
  ...duplicateClients(profile),
  ...clockProblems(profile),
  ...headerProblems(["headers"], profile.headers),
  ...headerProblems(["authorize", "headers"], profile.authorize?.headers),
  ...hooksOf<HookAsWritten>(profile).flatMap(([name, hook]) => [
    ...placeholderProblems(name, hook),
    ...pointerProblems(name, hook),
    ...httpProblems(name.split("."), hook),
  ]),
  ...networkProblems(profile),
  ...shapeProblems(profile.load?.shape),
  ...weightProblems(profile.load?.mixed ?? {}),
];

/** A weight left out keeps its default, which is never 0. */
const weightProblems = (mixed: NonNullable<NonNullable<Profile["load"]>["mixed"]>): KeyProblem[] =>
  mixed.authorize === 0 && mixed.refresh === 0 && mixed.resume === 0
    ? [problemAt(["load", "mixed"], "has only weights of 0; at least one must be greater")]
    : [];

const shapeProblems = (shape: readonly string[] = []): KeyProblem[] => {
  const stages = shape.map(parseStage);
  const wrong = shape.flatMap((text, index) =>
    stages[index] === undefined
      ? [
          problemAt(
            ["load", "shape", index],
            `is "${text}"; accepted is a duration and requests per second, such as 30s:100`,
          ),
        ]
      : [],
  );
  const isStill = shape.length > 0 && stages.every((stage) => stage?.rate === 0);
  const still = "load.shape: all stages have 0 requests per second; at least one must have a higher rate";
  return isStill ? [{ at: ["load", "shape"], text: still }] : wrong;
};

const idProblems = ({ pins, notApplicable }: Profile): KeyProblem[] =>
  (
    [
      [["pins", "observations"], pins?.observations],
      [["pins", "readings"], pins?.readings],
      [["notApplicable"], notApplicable],
    ] as const
  ).flatMap(([at, named]) =>
    Object.keys(named ?? {})
      .filter((id) => !isRequirementId(id))
      .map((id) => ({ at: [...at, id], text: `${at.join(".")}: ${unknownId(id)}` })),
  );

const unknownId = (id: string): string =>
  `"${id}" is not a requirement id; similar ids are ${nearest(id, requirementIds).join(", ")} (\`touchstone rules\` lists all)`;

const observationProblems = (id: string): KeyProblem[] => {
  if (!isRequirementId(id) || requirement(id).level === "unspecified") return [];
  const why = `${id} is ${requirement(id).level} and never observed; accepted are unspecified rules`;
  return [{ at: ["pins", "observations", id], text: `pins.observations: ${why}` }];
};

const readingProblems = ([id, reading]: readonly [string, string]): KeyProblem[] => {
  if (!isRequirementId(id)) return [];
  const known = Object.keys(requirement(id).readings ?? {});
  if (known.includes(reading)) return [];
  return [
    {
      at: ["pins", "readings", id],
      text: `pins.readings: "${reading}" is not a reading of ${id}; ${known.length === 0 ? "it has none" : `accepted are ${known.join(", ")}`}`,
    },
  ];
};

type Waivers = NonNullable<Profile["waivers"]>;

/** A waiver that can never apply is a mistake and would give false comfort. */
const waiverProblems = (
  { id, expires }: Waivers[number],
  index: number,
  all: Waivers,
): readonly KeyProblem[] => {
  const problem = (key: string, text: string): KeyProblem => ({
    at: ["waivers", index, key],
    text: `waivers[${index}].${key}: ${text}`,
  });
  const day = new Date(`${expires}T00:00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(expires);
  return [
    ...(isRequirementId(id) ? [] : [problem("id", unknownId(id))]),
    ...(isRequirementId(id) && ["unspecified", "untestable"].includes(requirement(id).level)
      ? [
          problem(
            "id",
            `${id} is ${requirement(id).level} and never fails the gate; accepted are required, derived and advisory rules`,
          ),
        ]
      : []),
    ...(all.findIndex((other) => other.id === id) < index
      ? [problem("id", `"${id}" already has a waiver; accepted is one per rule`)]
      : []),
    ...(isDay ? [] : [problem("expires", `"${expires}" is not a date; accepted is YYYY-MM-DD`)]),
  ];
};

/** Two movers of one clock would contradict each other. */
const clockProblems = ({ hooks }: Profile): KeyProblem[] =>
  hooks?.clock?.advance !== undefined && hooks.clock.faketime !== undefined
    ? [
        problemAt(
          ["hooks", "clock", "faketime"],
          "is given together with hooks.clock.advance; accepted is one of them",
        ),
      ]
    : [];

/** Rules compare the two clients; if they were the same, each of these rules would raise an alarm. */
const duplicateClients = ({ clients: [first, second] }: Profile): KeyProblem[] =>
  first !== undefined && first.id === second?.id
    ? [
        problemAt(
          ["clients", 1, "id"],
          `is "${second.id}", as is clients[0].id; accepted is another client, or none`,
        ),
      ]
    : [];

/** Headers that the transport sets itself and does not accept. */
const ownHeaders = ["connection", "content-length", "expect", "keep-alive", "transfer-encoding", "upgrade"];

const headerProblems = (at: KeyPath, headers: Readonly<Record<string, SecretValue>> = {}): KeyProblem[] =>
  Object.entries(headers).flatMap(([name, value]) => {
    const problem = (said: string): KeyProblem => problemAt([...at, name], said);
    try {
      validateHeaderName(name);
      // The value of a secret is checked once it has been fetched.
      validateHeaderValue(name, typeof value === "string" ? value : (value.prefix ?? ""));
    } catch {
      return [problem("cannot be sent as a header; accepted are names and values of RFC 9110")];
    }
    return ownHeaders.includes(name.toLowerCase())
      ? [problem(`cannot be set; accepted is any header except ${ownHeaders.join(", ")}`)]
      : [];
  });

/** Headers of a hook, without the values of its placeholders, and the secrets in its body. */
const httpProblems = (at: KeyPath, hook: HookAsWritten): readonly KeyProblem[] =>
  "http" in hook
    ? [
        ...headerProblems([...at, "http", "headers"], hook.http.headers),
        ...bodyProblems([...at, "http", "body"], hook.http.body),
      ]
    : [];

const isSecretSource = new Ajv(ownSchemas).compile(SecretSource);

/** An object with the key "$secret" stands for a secret and must have no other keys. */
const bodyProblems = (at: KeyPath, body: unknown): readonly KeyProblem[] => {
  if (typeof body !== "object" || body === null) return [];
  if (!Object.hasOwn(body, secretKey))
    return Object.entries(body).flatMap(([key, value]) =>
      bodyProblems([...at, Array.isArray(body) ? Number(key) : key], value),
    );
  const { [secretKey]: source, ...rest } = body as Readonly<Record<string, unknown>>;
  return Object.keys(rest).length === 0 && isSecretSource(source)
    ? []
    : [
        problemAt(
          at,
          `has the key "${secretKey}" but is not a secret; accepted is { "${secretKey}": source } alone, where source is { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] }`,
        ),
      ];
};

/** A placeholder that a hook never gets would be sent literally and puzzle the readers of the service's log. */
const placeholderProblems = (name: HookName, hook: HookAsWritten): readonly KeyProblem[] => {
  const known: readonly string[] = hookPlaceholders[name];
  const used = new Set(
    [...JSON.stringify(hook).matchAll(/\{\{\s*([\w.]+)\s*\}\}/g)].map(([whole, key]) => ({ whole, key })),
  );
  return [...used]
    .filter(({ whole, key }) => !known.includes(key ?? "") || whole !== `{{${key}}}`)
    .map(({ whole, key = "" }) =>
      problemAt(
        name.split("."),
        `holds ${whole}${guess(key, known)}; ${known.length === 0 ? "this hook has no placeholders" : `accepted are ${known.map((one) => `{{${one}}}`).join(", ")}`}`,
      ),
    );
};

/** A pointer without a leading slash points nowhere and would select the whole answer. */
const pointerProblems = (name: HookName, { result }: HookAsWritten): readonly KeyProblem[] =>
  result === undefined || result === "" || result.startsWith("/")
    ? []
    : [
        problemAt(
          [...name.split("."), "result"],
          `is "${result}"; accepted is a JSON pointer, such as "/${result}"`,
        ),
      ];

const addressProblems = (profile: Profile): KeyProblem[] => {
  const { network, receiver } = profile;
  const proxy = network?.proxy?.url;
  const addresses: (readonly [KeyPath, string])[] = [
    [["baseUrl"], profile.baseUrl],
    ...profile.clients.map(
      (client, index) => [["clients", index, "redirectUri"], client.redirectUri] as const,
    ),
    ...hooksOf<HookAsWritten>(profile).flatMap(([name, hook]) =>
      "http" in hook
        ? [[[...name.split("."), "http", "url"], hook.http.url.replaceAll(/\{\{\w+\}\}/g, "1")] as const]
        : [],
    ),
    ...(typeof proxy === "string" ? [[["network", "proxy", "url"], proxy] as const] : []),
    ...(receiver !== undefined && "attach" in receiver
      ? [[["receiver", "attach", "controlUrl"], receiver.attach.controlUrl] as const]
      : []),
  ];
  return addresses.flatMap(([at, value]) => {
    const key = keyText(at);
    const problem = (accepted: string): KeyProblem[] => [
      problemAt(at, `is "${shownAddress(value)}"; accepted is ${accepted}`),
    ];
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (parsed === undefined || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
      return problem("an absolute URL that starts with http:// or https://");
    const hasUser = parsed.username !== "" || parsed.password !== "";
    const instead = insteadOfUser(key);
    if (hasUser && instead !== undefined) return problem(`an address without user and password${instead}`);
    return key === "baseUrl" && (parsed.search !== "" || parsed.hash !== "")
      ? problem("an address without query and fragment")
      : [];
  });
};

/** An address without parts that may be secret; one that cannot be parsed may contain secrets anywhere. */
const shownAddress = (address: string): string =>
  address
    .replace(/\/\/.*@/s, "//(not shown)@")
    .replace(/\?.*$/s, "?(not shown)")
    .slice(0, 200);

/**
 * The alternative to user and password in this address, which would be recorded; undefined if the address is sent as
 * registered, whatever it contains.
 */
const insteadOfUser = (key: string): string | undefined => {
  if (key.endsWith(".redirectUri")) return undefined;
  if (key === "network.proxy.url") return ', or { "env": NAME } for one that has them';
  if (key === "receiver.attach.controlUrl") return " (`receiver.attach.token` opens it)";
  return ` (\`${key === "baseUrl" ? "headers" : key.replace(/url$/, "headers")}\` can authorize: { "authorization": { "env": NAME, "prefix": "Basic " } })`;
};

const networkProblems = ({ network }: Profile): KeyProblem[] =>
  Object.entries(network?.resolve ?? {}).flatMap(([host, address]) =>
    net.isIP(address) === 0
      ? [problemAt(["network", "resolve", host], `is "${address}"; accepted is an IPv4 or IPv6 address`)]
      : [],
  );
