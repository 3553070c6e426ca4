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
