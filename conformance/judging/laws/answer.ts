/** An answer as plain data, which laws judge no matter which client sent the request. */
export interface PlainAnswer {
  readonly status: number;
  /** Fields of the body if it is a JSON object; otherwise none. */
  readonly fields: Fields;
  readonly location?: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a non-empty string, as credentials and codes are. */
export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

export const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);
