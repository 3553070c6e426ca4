import type { Answer } from "../../world/exchange.ts";

/** Patterns of stack traces, by platform. */
const traces: readonly (readonly [platform: string, pattern: RegExp])[] = [
  [
    "Node.js",
    /^\s*at (?:async )?(?:[\w$.<>[\] ]+ \()?(?:file:\/\/|node:|\/|[A-Z]:\\|webpack)[^\n]*:\d+:\d+\)?/m,
  ],
  [
    "Java",
    /^\s*at [\w$.]+\([\w$]+\.(?:java|kt|scala|groovy):\d+\)|^Caused by: [\w$.]+|\bat [\w$.]+\((?:Native Method|Unknown Source)\)/m,
  ],
  ["Python", /Traceback \(most recent call last\)|^\s*File "[^"\n]+", line \d+/m],
  [".NET", /^\s*at [\w.`<>]+\([^)\n]*\) in [^\n]+:line \d+|^\s*at (?:System|Microsoft)\.[\w.`<>]+\(/m],
  ["Go", /^goroutine \d+ \[[\w ,]+\]:|\.go:\d+ \+0x[0-9a-f]+/m],
  ["PHP", /^#\d+ [^\n]*\.php\(\d+\)|PHP (?:Fatal error|Warning):|\bin \/[^\s]+\.php on line \d+/m],
  ["Ruby", /\.rb:\d+:in [`'"]/],
  ["Rust", /thread '[^']*' panicked at/],
];

/** The platform of a stack trace in an answer; undefined if there is none. */
export const stackTraceIn = (answer: Answer): string | undefined => {
  const text = readable(answer);
  return traces.find(([, pattern]) => pattern.test(text))?.[0];
};

/**
 * Every string of an answer, one per line: header values, and either the unescaped strings of its JSON or its text
 * without markup.
 */
export const readable = (answer: Answer): string => {
  const body = answer.json === undefined ? plainText(answer.text) : strings(answer.json).join("\n");
  return [...answer.headers.map(([, value]) => value), body].join("\n");
};

const plainText = (text: string): string =>
  text
    .replaceAll(/<(?:br|p|div|li|tr)\b[^>]*>/gi, "\n")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll(/&(?:quot|#34);/g, '"')
    .replaceAll(/&(?:#39|#x27|apos);/g, "'")
    .replaceAll("&amp;", "&");

/** All strings in some JSON, keys and values, at any depth. */
const strings = (json: unknown): string[] => {
  const found: string[] = [];
  const queue: unknown[] = [json];
  for (let value = queue.pop(); queue.length > 0 || value !== undefined; value = queue.pop()) {
    if (typeof value === "string") found.push(value);
    else if (Array.isArray(value)) queue.push(...value.toReversed());
    else if (typeof value === "object" && value !== null)
      queue.push(
        ...Object.entries(value)
          .toReversed()
          .flatMap(([key, inner]) => [inner, key]),
      );
  }
  return found;
};

/** Runs of characters that are long enough to be a credential. */
const tokenShape = /[A-Za-z0-9._~+/=-]{16,}/g;

/**
 * Strings in an answer that could be credentials, except those that the request contained. They have a digit and a
 * letter, as any random text of that length does. Addresses and identifiers may be among them; only trying them tells.
 */
export const tokenLike = (answer: Answer, sent: readonly string[]): readonly string[] => {
  const pieces = readable(answer).match(tokenShape) ?? [];
  const parts = pieces.flatMap((piece) => [piece, ...piece.split(/[=/]/)]);
  return [...new Set(parts)].filter(
    (part) =>
      part.length >= 16 &&
      /\d/.test(part) &&
      /[A-Za-z]/.test(part) &&
      !sent.some((one) => one.includes(part)),
  );
};

/** Absolute paths that start in a folder where services run. */
const unixPath =
  /(?<![\w./:-])\/(?:usr|home|var|opt|app|srv|root|tmp|etc|proc|mnt|data|workspace|Users|private)(?:\/[\w.@+-]+)+/g;
const windowsPath = /(?<!\w)[A-Z]:\\(?:[\w .()-]+\\)*[\w.()-]+/g;
const codeFile =
  /\.(?:[cm]?[jt]s|py|rb|php|java|class|jar|go|rs|cs|dll|so|sqlite3?|db|conf|ini|ya?ml|env|pem|key|log)\b/;

/** Messages from databases and runtimes, meant for operators. */
const messages: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["a message of SQLite", /\bSQLITE_[A-Z]+\b|\bno such (?:table|column): \w+/],
  [
    "a message of PostgreSQL",
    /syntax error at or near|violates (?:unique|foreign key|check|not-null) constraint/,
  ],
  ["a message of MySQL", /You have an error in your SQL syntax|\bER_[A-Z_]{4,}\b/],
  ["a message of Oracle", /\bORA-\d{5}\b/],
  ["a message of a database", /\bSQLSTATE\[?\w*|\bMongo(?:Server|Network)?Error\b|\bPrismaClient\w+Error\b/],
  ["an SQL statement", /\b(?:SELECT [\w*",. ]+ FROM|INSERT INTO \w+|UPDATE \w+ SET|DELETE FROM \w+)\b/],
  ["a place in a package", /\bnode_modules\/|\bnode:internal\/|\bsite-packages\/|\bvendor\/bundle\//],
  [
    "a message of a runtime",
    /\bTypeError: |\bReferenceError: |\bNullPointerException\b|\bNullReferenceException\b/,
  ],
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
];

/**
 * What an answer reveals about the inside of the service: an internal path, or a message meant for its operator.
 * Undefined if nothing. Text that the request itself contained may come back.
 */
export const internalsIn = (text: string, sent: string): string | undefined => {
  for (const [name, pattern] of messages) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined && !sent.includes(found)) return `${name} ("${found.slice(0, 60)}")`;
  }
  const path = [...(text.match(unixPath) ?? []), ...(text.match(windowsPath) ?? [])].find(
    (found) => !sent.includes(found) && (codeFile.test(found) || found.split(/[/\\]/).length > 3),
  );
  return path === undefined ? undefined : `the path ${path.slice(0, 60)}`;
};
