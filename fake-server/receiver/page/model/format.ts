const two = (value: number): string => String(value).padStart(2, "0");

/** 14:03:07.482 in the reader's time zone. */
export const clockTime = (wallMs: number): string => {
  const date = new Date(wallMs);
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
};

/** A length of time as short as it can be read: 12 ms, 1.25 s, 90.0 s, 7 min 30 s. */
export const span = (lengthMs: number): string => {
  const size = Math.abs(lengthMs);
  const sign = lengthMs < 0 ? "−" : "";
  if (size < 1_000) return `${sign}${Math.round(size)} ms`;
  if (size < 10_000) return `${sign}${(size / 1_000).toFixed(2)} s`;
  if (size < 600_000) return `${sign}${(size / 1_000).toFixed(1)} s`;
  return `${sign}${Math.floor(size / 60_000)} min ${two(Math.floor((size % 60_000) / 1_000))} s`;
};

/** Seconds alone, for a row of gaps. */
export const seconds = (lengthMs: number): string => {
  const value = lengthMs / 1_000;
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
};

export const count = (value: number): string => value.toLocaleString("en");

/** The steps of an axis: a round step that gives four to eight of them over this length. */
export const axisSteps = (lengthMs: number): number[] => {
  const rounds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];
  const step =
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, ...rounds]
      .map((value) => value * 1_000)
      .find((value) => lengthMs / value <= 8) ?? lengthMs / 4;
  const steps: number[] = [];
  for (let at = 0; at <= lengthMs; at += step) steps.push(at);
  return steps;
};

/** The label of a step: 30 s, 2 min, 1 h, 250 ms. */
export const axisLabel = (atMs: number): string => {
  if (atMs === 0) return "0";
  if (atMs < 1_000) return `${Math.round(atMs)} ms`;
  if (atMs % 3_600_000 === 0) return `${atMs / 3_600_000} h`;
  if (atMs >= 120_000 && atMs % 60_000 === 0) return `${atMs / 60_000} min`;
  return `${Math.round(atMs / 100) / 10} s`;
};
