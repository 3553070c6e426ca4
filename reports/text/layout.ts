// eslint-disable-next-line no-control-regex -- the colours of a palette are control characters
const colour = /\u001b\[[\d;]*m/g;
const marks = /\p{M}/u;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

const characterWidth = (character: string): number => {
  if (character <= "~") return 1;
  if (marks.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
};

/** Terminal columns of a text: colours and combining marks take none, East Asian characters and emoji two. */
export const width = (text: string): number => {
  let columns = 0;
  for (const character of text.replace(colour, "")) columns += characterWidth(character);
  return columns;
};

/** The text padded with spaces to a width, on the right or on the left. */
export const padEnd = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - width(text)));
export const padStart = (text: string, columns: number): string =>
  " ".repeat(Math.max(0, columns - width(text))) + text;

/** The part of an uncoloured text that fits, and its length in characters. */
const fitting = (text: string, columns: number): string => {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
};

export const cut = (text: string, columns: number): string =>
  width(text) <= columns ? text : `${fitting(text, Math.max(0, columns - 1))}…`;

/** Units in reports; a number is never separated from its unit, nor the parts of "1 min 30 s". */
const unit = "(?:ms|s|min|h|d|%|bits?|bytes?|characters?)";
const held = `(?![^‹›]*›)(?<!\\d\\s(?=${unit}(?![\\p{L}\\d])))(?<!\\d\\s(?:min|h|d)\\s(?=\\d+(?:\\.\\d+)?\\s${unit}(?![\\p{L}\\d])))`;

/**
 * Where lines may break: sentences at spaces only, data also after commas, ampersands and semicolons; a masked ‹access
 * token 1› is never broken.
 */
const breaks = {
  sentence: new RegExp(`(?<=\\s)${held}`, "u"),
  data: new RegExp(`(?<=[\\s,&;])${held}`, "u"),
} as const;

/** The path of a file or folder: broken, it could not be copied. */
const isPath = (word: string): boolean => /^(?:[\w.@~+-]*\/)+[\w.@~+-]+$/.test(word);

/** An uncoloured text in lines of at most this width. Longer words are broken if necessary, except for paths. */
export const wrap = (text: string, columns: number, kind: keyof typeof breaks = "sentence"): string[] => {
  const most = Math.max(1, columns);
  const lines: string[] = [];
  let line = "";
  for (let word of text.split(breaks[kind])) {
    if (width((line + word).trimEnd()) <= most) {
      line += word;
      continue;
    }
    if (line.trim() !== "") lines.push(line.trimEnd());
    while (width(word.trimEnd()) > most && !isPath(word.trimEnd())) {
      const piece = fitting(word, most) || String.fromCodePoint(word.codePointAt(0) ?? 0);
      lines.push(piece);
      word = word.slice(piece.length);
    }
    line = word;
  }
  if (line.trim() !== "" || lines.length === 0) lines.push(line.trimEnd());
  return lines;
};

/** Data in at most `most` lines; the rest is left out, and the last line gives the total length. */
export const fold = (text: string, columns: number, most: number): string[] => {
  const lines = wrap(text, columns, "data");
  if (lines.length <= most) return lines;
  const note = `… (${text.length.toLocaleString("en")} characters)`;
  const last = fitting(lines[most - 1] ?? "", Math.max(0, columns - width(note)));
  return [...lines.slice(0, most - 1), `${last}${note}`];
};

/** Data as by `fold`, with later lines indented by two spaces. */
export const hang = (text: string, columns: number, most: number): string[] => {
  const [first = "", ...rest] = fold(text, columns - 2, most);
  return [first, ...indent(rest, 2)];
};

export const indent = (lines: readonly string[], by: number): string[] =>
  lines.map((line) => (line === "" ? "" : " ".repeat(by) + line));

export const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(width));
