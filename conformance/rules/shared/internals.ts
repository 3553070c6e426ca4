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
