/**
 * Characters that a terminal acts on, or that hide or reorder the text around them: control characters (ANSI escapes
 * begin with one), format characters (bidirectional overrides, zero-width spaces, tags), line and paragraph separators,
 * lone surrogates, and what Unicode lets a font leave out, such as Hangul fillers and variation selectors (so that an
 * emoji may be shown with the escape of its selector).
 */
export const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (character: string): string => {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  if (point <= 0xff) return named[character] ?? `\\x${hex.padStart(2, "0")}`;
  return point <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
};

/** Foreign text as one line that is safe to show anywhere: unsafe characters are escaped, as in \u202e. */
export const harmless = (text: string): string => text.replace(unsafe, escaped);

/** The same for several lines: line breaks stay. */
export const harmlessLines = (text: string): string => text.split("\n").map(harmless).join("\n");

/** The same for text that the program coloured itself: line breaks and colours stay. */
export const harmlessColoured = (text: string): string =>
  text
    .split(colours)
    .map((part, index) => (index % 2 === 0 ? harmlessLines(part) : part))
    .join("");

/** "Select graphic rendition", the one escape sequence that only colours. */
// eslint-disable-next-line no-control-regex -- an escape sequence begins with a control character
const colours = /(\u001b\[[\d;]*m)/;

/** The same for a JSON document: unsafe characters become JSON escapes, so the values stay the same. */
export const harmlessJson = (json: string): string =>
  json
    .split("\n")
    .map((line) => line.replace(unsafe, inJson))
    .join("\n");

/** A value as the indented text of a JSON file that anyone may open in a terminal; parsed, it is the same value. */
export const jsonFile = (
  value: unknown,
  replacer?: (this: unknown, key: string, value: unknown) => unknown,
): string => `${harmlessJson(JSON.stringify(value, replacer, 2))}\n`;

/**
 * Lines that hold no command for a CI service, which reads them from the output of any program: GitHub `::name::` at the
 * start of a line and `##[name]` anywhere, Azure Pipelines `##vso[name]`, TeamCity `##teamcity[name]`.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([^\S\n]*:):(?=.*::)/gm, "$1\\x3a").replace(hashCommand, "#\\x23");

/** What begins a command anywhere in a line. */
const hashCommand = /##(?=(?:vso|teamcity)?\[)/gi;

/** The same for a JSON document: the values stay the same. */
export const jsonWithoutCommands = (json: string): string => json.replace(hashCommand, "#\\u0023");

const inJson = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
