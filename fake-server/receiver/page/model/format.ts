const two = (value: number): string => String(value).padStart(2, "0");

/** 14:03:07.482 in the reader's time zone. */
export const clockTime = (wallMs: number): string => {
  const date = new Date(wallMs);
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
};

/** A duration in its shortest readable form: 12 ms, 1.25 s, 90.0 s, 7 min 30 s. */
export const span = (lengthMs: number): string => {
  const size = Math.abs(lengthMs);
  const sign = lengthMs < 0 ? "−" : "";
  if (size < 1_000) return `${sign}${Math.round(size)} ms`;
  if (size < 10_000) return `${sign}${(size / 1_000).toFixed(2)} s`;
  if (size < 600_000) return `${sign}${(size / 1_000).toFixed(1)} s`;
  return `${sign}${Math.floor(size / 60_000)} min ${two(Math.floor((size % 60_000) / 1_000))} s`;
};

/** Seconds only, for a row of gaps. */
export const seconds = (lengthMs: number): string => {
  const value = lengthMs / 1_000;
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
};

export const count = (value: number): string => value.toLocaleString("en");

/** 1 push, 2 pushes. */
export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** The label of a moment on the axis: 30 s, 250 ms, 4 h. In seconds while readable, as in the document. */
export const axisLabel = (atMs: number): string => {
  if (atMs === 0) return "0";
  if (atMs < 1_000) return `${Math.round(atMs)} ms`;
  if (atMs >= 7_200_000) return `${Math.round(atMs / 360_000) / 10} h`;
  return `${Math.round(atMs / 100) / 10} s`;
};
