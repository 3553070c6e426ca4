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

/** How wide a stream is: 100 columns if it is no terminal, and 80 if it is one that tells 0, as in a container. */
export const columnsOf = ({ columns = 100 }: { readonly columns?: number }): number =>
  columns === 0 ? 80 : columns;

/** The same page for a terminal of any width: reports use at most 120 columns, and at least 40. */
export const fitted = <P extends Page>(page: P): P => ({
  ...page,
  columns: Math.min(120, Math.max(40, page.columns)),
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
