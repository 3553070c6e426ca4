import net from "node:net";
import { Ajv, type ValidateFunction } from "ajv";
import { isDay } from "../contract/duration.ts";
import { isRequirementId, requirement, requirementIds } from "../contract/catalogue.ts";
import { parseStage, shapeNames } from "../contract/load-shape.ts";
import { nearest } from "../contract/text.ts";
import { hookPlaceholders, hooksOf, type HookName } from "../contract/profile-fetched.ts";
import { Profile, secretKey, type HookAsWritten, type SecretValue } from "../contract/profile.ts";
import { SecretSource } from "../contract/profile-parts.ts";
import { ownSchemas } from "../contract/schema.ts";
import { explain, guess, keyText, type KeyPath, type KeyProblem } from "../contract/schema-errors.ts";
import { canBeSent, problemAt, shownValue } from "./profile-problems.ts";
import { ConfigurationError } from "../contract/problem.ts";

/** Compiled with the first profile, because a run of the embedded fake reads none. */
let validate: ValidateFunction<Profile> | undefined;

/**
 * Checks a value as a Profile. Throws a ConfigurationError that lists everything wrong with it. `source` names the file
 * of a key, for a profile made from several.
 */
export const checkProfile = (
  value: unknown,
  source: string | ((at: KeyPath) => string) = "profile",
): Profile => {
  validate ??= new Ajv({ ...ownSchemas, allErrors: true, verbose: true }).compile<Profile>(Profile);
  const problems = validate(value) ? problemsOf(value) : explain(validate.errors ?? [], profileValues);
  const nameOf = typeof source === "string" ? () => source : source;
  if (problems.length > 0)
    throw new ConfigurationError(problems.map(({ at, text }) => `${nameOf(at)}: ${text}`));
  return value as Profile;
};

const profileValues = { root: "the profile", shown: shownValue };

const problemsOf = (profile: Profile): readonly KeyProblem[] => {
  const { pins, waivers = [], load, network } = profile;
  const hooks = hooksOf(profile);
  return [
    ...addressProblems(profile, hooks),
    ...idProblems(profile),
    ...Object.keys(pins?.observations ?? {}).map(observationProblem),
    ...Object.entries(pins?.readings ?? {}).map(readingProblem),
    ...waivers.flatMap(waiverProblems),
    duplicateClient(profile),
    clockProblem(profile),
    ...headerProblems(["headers"], profile.headers),
    ...headerProblems(["authorize", "headers"], profile.authorize?.headers),
    ...hooks.flatMap(([name, hook]) => hookProblems(name, hook)),
    ...Object.entries(network?.resolve ?? {}).map(([host, address]) =>
      net.isIP(address) === 0
        ? problemAt(["network", "resolve", host], `is "${address}"; accepted is an IPv4 or IPv6 address`)
        : undefined,
    ),
    ...shapeProblems(load?.shape),
    weightProblem(load?.mixed ?? {}),
  ].filter((problem) => problem !== undefined);
};

/** A mistake, if there is one. */
type Maybe = KeyProblem | undefined;

/** A weight left out keeps its default, which is never 0. */
const weightProblem = (mixed: NonNullable<NonNullable<Profile["load"]>["mixed"]>): Maybe =>
  mixed.authorize === 0 && mixed.refresh === 0 && mixed.resume === 0
    ? problemAt(["load", "mixed"], "has only weights of 0; at least one must be greater")
    : undefined;

const shapeProblems = (shape: readonly string[] | string = []): readonly Maybe[] => {
  if (typeof shape === "string")
    return shapeNames.some((name) => name === shape)
      ? []
      : [
          problemAt(
            ["load", "shape"],
            `is "${shape}"; accepted is one of ${shapeNames.join(", ")}, or a list of stages`,
          ),
        ];
  const stages = shape.map(parseStage);
  const still = "load.shape: all stages have 0 requests per second; at least one must have a higher rate";
  if (shape.length > 0 && stages.every((stage) => stage?.rate === 0))
    return [{ at: ["load", "shape"], text: still }];
  return stages.map((stage, index) =>
    stage === undefined
      ? problemAt(
          ["load", "shape", index],
          `is "${shape[index]}"; accepted is a duration and requests per second, such as 30s:100`,
        )
      : undefined,
  );
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

const observationProblem = (id: string): Maybe => {
  if (!isRequirementId(id) || requirement(id).level === "unspecified") return undefined;
  const why = `${id} is ${requirement(id).level} and never observed; accepted are unspecified rules`;
  return { at: ["pins", "observations", id], text: `pins.observations: ${why}` };
};

const readingProblem = ([id, reading]: readonly [string, string]): Maybe => {
  if (!isRequirementId(id)) return undefined;
  const known = Object.keys(requirement(id).readings ?? {});
  if (known.includes(reading)) return undefined;
  const accepted = known.length === 0 ? "it has none" : `accepted are ${known.join(", ")}`;
  return {
    at: ["pins", "readings", id],
    text: `pins.readings: "${reading}" is not a reading of ${id}; ${accepted}`,
  };
};

type Waivers = NonNullable<Profile["waivers"]>;

/** A waiver that can never apply is a mistake and would give false comfort. */
const waiverProblems = ({ id, expires }: Waivers[number], index: number, all: Waivers): readonly Maybe[] => {
  const problem = (key: string, text: string): KeyProblem => ({
    at: ["waivers", index, key],
    text: `waivers[${index}].${key}: ${text}`,
  });
  const level = isRequirementId(id) ? requirement(id).level : undefined;
  return [
    level === undefined ? problem("id", unknownId(id)) : undefined,
    level === "unspecified" || level === "untestable"
      ? problem(
          "id",
          `${id} is ${level} and never fails the gate; accepted are required, derived and advisory rules`,
        )
      : undefined,
    all.findIndex((other) => other.id === id) < index
      ? problem("id", `"${id}" already has a waiver; accepted is one per rule`)
      : undefined,
    isDay(expires) ? undefined : problem("expires", `"${expires}" is not a date; accepted is YYYY-MM-DD`),
  ];
};

/** Two movers of one clock would contradict each other. */
const clockProblem = ({ hooks }: Profile): Maybe =>
  hooks?.clock?.advance !== undefined && hooks.clock.faketime !== undefined
    ? problemAt(
        ["hooks", "clock", "faketime"],
        "is given together with hooks.clock.advance; accepted is one of them",
      )
    : undefined;

/** Rules compare the two clients; if they were the same, each of these rules would raise an alarm. */
const duplicateClient = ({ clients: [first, second] }: Profile): Maybe =>
  first !== undefined && first.id === second?.id
    ? problemAt(
        ["clients", 1, "id"],
        `is "${second.id}", as is clients[0].id; accepted is another client, or none`,
      )
    : undefined;

/** Headers that the transport sets itself and does not accept. */
const ownHeaders = ["connection", "content-length", "expect", "keep-alive", "transfer-encoding", "upgrade"];

const headerProblems = (at: KeyPath, headers: Readonly<Record<string, SecretValue>> = {}): readonly Maybe[] =>
  Object.entries(headers).map(([name, value]) => {
    // The value of a secret is checked once it has been fetched.
    if (!canBeSent(name, typeof value === "string" ? value : (value.prefix ?? "")))
      return problemAt(
        [...at, name],
        "cannot be sent as a header; accepted are names and values of RFC 9110",
      );
    return ownHeaders.includes(name.toLowerCase())
      ? problemAt([...at, name], `cannot be set; accepted is any header except ${ownHeaders.join(", ")}`)
      : undefined;
  });

const hookProblems = (name: HookName, hook: HookAsWritten): readonly Maybe[] => {
  const at = name.split(".");
  return [
    ...placeholderProblems(at, hook, hookPlaceholders[name]),
    pointerProblem([...at, "result"], hook.result),
    ...("http" in hook
      ? [
          ...headerProblems([...at, "http", "headers"], hook.http.headers),
          ...bodyProblems([...at, "http", "body"], hook.http.body),
        ]
      : []),
  ];
};

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
const placeholderProblems = (
  at: KeyPath,
  hook: HookAsWritten,
  known: readonly string[],
): readonly KeyProblem[] => {
  const accepted =
    known.length === 0
      ? "this hook has no placeholders"
      : `accepted are ${known.map((one) => `{{${one}}}`).join(", ")}`;
  return [...JSON.stringify(hook).matchAll(/\{\{\s*([\w.]+)\s*\}\}/g)]
    .filter(([whole, key = ""]) => !known.includes(key) || whole !== `{{${key}}}`)
    .map(([whole, key = ""]) => problemAt(at, `holds ${whole}${guess(key, known)}; ${accepted}`));
};

/** A pointer without a leading slash points nowhere and would select the whole answer. */
const pointerProblem = (at: KeyPath, pointer = ""): Maybe =>
  pointer === "" || pointer.startsWith("/")
    ? undefined
    : problemAt(at, `is "${pointer}"; accepted is a JSON pointer, such as "/${pointer}"`);

const addressProblems = (profile: Profile, hooks: ReturnType<typeof hooksOf>): readonly Maybe[] => {
  const { network, receiver, clients } = profile;
  const proxy = network?.proxy?.url;
  const addresses: (readonly [KeyPath, string])[] = [
    [["baseUrl"], profile.baseUrl],
    ...clients.map(({ redirectUri }, index) => [["clients", index, "redirectUri"], redirectUri] as const),
    ...hooks.flatMap(([name, hook]) =>
      "http" in hook
        ? [[[...name.split("."), "http", "url"], hook.http.url.replaceAll(/\{\{\w+\}\}/g, "1")] as const]
        : [],
    ),
    ...(typeof proxy === "string" ? [[["network", "proxy", "url"], proxy] as const] : []),
    ...(receiver !== undefined && "attach" in receiver
      ? [[["receiver", "attach", "controlUrl"], receiver.attach.controlUrl] as const]
      : []),
  ];
  return addresses.map(([at, value]) => {
    const accepted = acceptedAddress(keyText(at), URL.parse(value));
    return accepted === undefined
      ? undefined
      : problemAt(at, `is "${shownAddress(value)}"; accepted is ${accepted}`);
  });
};

/** What is accepted instead of this address; undefined if it is. */
const acceptedAddress = (key: string, url: URL | null): string | undefined => {
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    return "an absolute URL that starts with http:// or https://";
  const instead = insteadOfUser(key);
  if ((url.username !== "" || url.password !== "") && instead !== undefined)
    return `an address without user and password${instead}`;
  return key === "baseUrl" && (url.search !== "" || url.hash !== "")
    ? "an address without query and fragment"
    : undefined;
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
