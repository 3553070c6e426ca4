export type Paint = (text: string) => string;

/** The colours that reports use; picocolors' `createColors(enabled)` is one. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

export const same: Paint = (text) => text;

export const plain: Palette = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

export interface Page {
  readonly palette: Palette;
  readonly columns: number;
}

/** The same page for a terminal of any width: reports use at most 100 columns, and at least 40. */
export const fitted = <P extends Page>(page: P): P => ({
  ...page,
  columns: Math.min(100, Math.max(40, page.columns)),
});

export const narrowed = <P extends Page>(page: P, by: number): P => ({ ...page, columns: page.columns - by });

/**
 * Whether output to a stream is coloured: only on a terminal that supports it, or if FORCE_COLOR is set. NO_COLOR
 * (no-color.org) overrides both; an empty variable counts as unset.
 */
export const wantsColour = (
  environment: Readonly<Record<string, string | undefined>>,
  stream: { readonly isTTY?: boolean | undefined },
): boolean => {
  const { NO_COLOR: never = "", FORCE_COLOR: always = "", TERM: terminal } = environment;
  if (never !== "") return false;
  if (always !== "") return always !== "0" && always !== "false";
  return stream.isTTY === true && terminal !== "dumb";
};
