/** What most behaviours know at once, and some only later. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value, at once if it is known: most answers leave within the same turn of the event loop. */
export const whenKnown = <T, R>(
  value: MaybePromise<T>,
  goOn: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (value instanceof Promise ? value.then(goOn) : goOn(value));
