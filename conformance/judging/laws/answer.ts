/** An answer as plain data: what laws judge, whichever client sent the request. */
export interface PlainAnswer {
  readonly status: number;
  /** Fields of the body where it is a JSON object; none otherwise. */
  readonly fields: Fields;
  readonly location?: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Credentials and codes are non-empty strings. */
export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

export const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);
