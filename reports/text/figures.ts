/** A whole number as people read it: 1204 gives "1,204". */
export const figure = (value: number): string => value.toLocaleString("en");

/** A number with its noun: "1 case", "1,204 cases". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${figure(count)} ${count === 1 ? one : many}`;

/** Time that passed, to the precision that matters to a reader: "3 ms", "1.2 s", "7.5 min", "2.1 h". */
export const elapsed = (durationMs: number): string => {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1_000).toFixed(1)} s`;
  if (durationMs < 3_597_000) return `${(durationMs / 60_000).toFixed(1)} min`;
  return `${(durationMs / 3_600_000).toFixed(1)} h`;
};

export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
