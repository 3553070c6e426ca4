export interface Element {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string | number | undefined>>;
  readonly children?: readonly (Element | string)[];
}

/** Characters that XML 1.0 cannot represent, even escaped (section 2.2): they are removed. */
// eslint-disable-next-line no-control-regex -- control characters are what it is about
const illegal = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Cs}]/gu;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

const text = (value: string): string =>
  value.replace(illegal, "").replace(/[&<>\r]/g, (character) => entities[character] ?? character);

/** Escapes line ends and tabs, which parsers read as spaces in attributes. */
const attribute = (value: string): string =>
  value.replace(illegal, "").replace(/[&<>"\r\n\t]/g, (character) => entities[character] ?? character);

/**
 * The XML document of an element, indented by two spaces. Text is written unchanged, so no whitespace is added to it.
 */
export const xmlDocument = (root: Element): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${linesOf(root, "").join("\n")}\n`;

const linesOf = ({ name, attributes = {}, children = [] }: Element, margin: string): string[] => {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${attribute(String(value))}"`],
  );
  const opening = `${margin}<${name}${written.join("")}`;
  if (children.length === 0) return [`${opening}/>`];
  if (children.every((child) => typeof child === "string"))
    return [`${opening}>${children.map(text).join("")}</${name}>`];
  return [
    `${opening}>`,
    ...children.flatMap((child) =>
      typeof child === "string" ? [text(child)] : linesOf(child, `${margin}  `),
    ),
    `${margin}</${name}>`,
  ];
};
