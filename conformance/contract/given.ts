/** Only the values that were given: what is undefined is not a key of the result. */
export const given = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** T, whose optional fields may also be there with the value undefined. */
type OrUndefined<T> = { [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] };

/** The same for a type whose other fields must all be given. */
export const asRecord = <T extends object>(fields: OrUndefined<T>): T => given(fields) as T;
