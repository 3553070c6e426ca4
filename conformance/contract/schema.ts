import Type, {
  type Static,
  type TArrayOptions,
  type TNumberOptions,
  type TProperties,
  type TSchema,
  type TStringOptions,
} from "typebox";

/*
 * Schemas that say what they are for. Their descriptions are what editors show for a profile, and what
 * published schemas and reference pages say.
 */

/** The type of a schema's values, none of which is changed after it was made. */
export type Frozen<S extends TSchema> = DeepReadonly<Static<S>>;
type DeepReadonly<T> = unknown extends T ? T : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/**
 * For compiling schemas of our own. They are right as they stand, so that the schema of schemas need not be compiled
 * first; and most are compiled for one look, for which making the code shorter takes longer than it saves.
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

/** An object that has these keys and no others. */
export const group = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { ...closed, description });

export const list = <S extends TSchema>(description: string, items: S, options: TArrayOptions = {}) =>
  Type.Array(items, { ...options, description });

/** Values of one form under keys that are not known before. */
export const byName = <S extends TSchema>(description: string, values: S) =>
  Type.Record(Type.String(), values, { description });
