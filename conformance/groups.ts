/** The values in groups of at most this size, in their order: cases that share what is dear to set up. */
export const inGroups = <T>(values: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, group) =>
    values.slice(group * size, (group + 1) * size),
  );
