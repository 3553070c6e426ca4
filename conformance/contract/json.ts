/** Parses JSON; undefined if the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A field or an item of the value itself, never one that it inherits. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** The same keys with changed values. */
export const mapValues = <V, W>(
  values: Readonly<Record<string, V>>,
  change: (value: V) => W,
): Readonly<Record<string, W>> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
