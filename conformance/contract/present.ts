/** T, whose optional fields may also be there with the value undefined. */
type OrUndefined<T> = { [Key in keyof T]: object extends Pick<T, Key> ? T[Key] | undefined : T[Key] };

/** The fields whose value is not undefined. */
export const present = <T extends object>(fields: OrUndefined<T>): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
