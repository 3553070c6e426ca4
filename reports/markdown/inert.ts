import { safe } from "../text/safe.ts";

const markup = /[&<>"'`*_~[\](){}\\|#!@^$:]/g;

/** A text as Markdown shows it and never acts on it: what could be markup is written as entities. */
export const inertMarkdown = (text: string): string =>
  safe(text).replace(markup, (character) => `&#${character.codePointAt(0) ?? 63};`);

/** The same, set as code: names that begin with an at sign mention no user there. */
export const codeMarkdown = (text: string): string => `<code>${inertMarkdown(text)}</code>`;
