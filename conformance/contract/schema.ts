import Type, {
  Optional,
  type Static,
  type TArrayOptions,
  type TNumberOptions,
  type TOptional,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from "typebox";

/* Schemas with descriptions, which editors show for profiles and which published schemas and reference pages repeat. */

/** The deeply read-only type of a schema's values. */
export type Frozen<S extends TSchema> = DeepReadonly<Static<S>>;
type DeepReadonly<T> = unknown extends T ? T : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/**
 * Options for compiling our own schemas. They are known to be valid, so the schema of schemas need not be compiled
 * first; and most are used once, so optimizing the code costs more than it saves.
 */
export const ownSchemas = {
  strict: false,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
} as const;

export const closed = { additionalProperties: false } as const;

export const described = <S extends TSchema>(schema: S, description: string): S => ({
  ...schema,
  description,
});

export const text = (description: string, options: TStringOptions = {}) =>
  Type.String({ ...options, description });

export const number = (description: string, options: TNumberOptions = {}) =>
  Type.Number({ ...options, description });

export const integer = (description: string, options: TNumberOptions = {}) =>
  Type.Integer({ ...options, description });

/** An object with exactly these keys. */
export const group = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { ...closed, description });

/** Keys that may be left out. */
export const optional = <P extends TProperties>(properties: P) =>
  Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, Optional(schema)])) as {
    [Key in keyof P]: TOptional<P[Key]>;
  };

/** An object with no other keys than these, each of which may be left out. */
export const options = <P extends TProperties>(description: string, properties: P) =>
  group(description, optional(properties));

export const list = <S extends TSchema>(description: string, items: S, options: TArrayOptions = {}) =>
  Type.Array(items, { ...options, description });

/** Values of one form under arbitrary keys. */
export const byName = <S extends TSchema>(description: string, values: S) =>
  Type.Record(Type.String(), values, { description });
