/** Everything that is shown goes through here: as text nodes and attributes, never as markup. */

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
type Child = Node | string;

const fill = <E extends Element>(target: E, attributes: Attributes, children: readonly Child[]): E => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    target.setAttribute(name, value === true ? "" : String(value));
  }
  target.append(...children);
  return target;
};

export const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] => fill(document.createElement(name), attributes, children);

export const drawing = <K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** The element of the page with this id; the page and its script come from one source, so it is there. */
export const byId = <E extends HTMLElement>(id: string, type: new () => E): E => {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`The page has no ${type.name} "${id}"`);
  return found;
};

/** Sets a text only where it changed, so that nothing is announced or painted again for nothing. */
export const setText = (target: Element, text: string): void => {
  if (target.textContent !== text) target.textContent = text;
};
