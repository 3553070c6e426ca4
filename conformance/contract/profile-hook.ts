import Type, { Optional, type Static } from "typebox";
import { closed, described, group, list, optional, text } from "./schema.ts";

export const Address = text("An absolute http or https URL.", { minLength: 1 });
export const Milliseconds = Type.Number({ minimum: 0 });

/** A program and its arguments, of which only the arguments may be empty. */
const command = (description: string) =>
  list(description, Type.String(), {
    minItems: 1,
    allOf: [{ items: [text("The program.", { minLength: 1 })] }],
  });

/** Where a secret is kept. Secrets are never written into a profile. */
export const SecretSource = Type.Union(
  [
    Type.Object({ env: text("Name of the environment variable.", { minLength: 1 }) }, closed),
    Type.Object(
      {
        file: text("Path of a file that only its owner may read, relative to the profile.", { minLength: 1 }),
      },
      closed,
    ),
    Type.Object(
      {
        command: command(
          "Program and arguments; its output, without the trailing line break, is the secret.",
        ),
      },
      closed,
    ),
  ],
  {
    description:
      'where the secret is stored, never the secret itself: { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] }',
  },
);

const prefix = {
  prefix: Optional(text('What stands before the secret, such as "Bearer " or "session=".')),
};

/** The value of a header or query parameter: literal text, or the source of a secret with an optional prefix. */
export const SecretValue = Type.Union(
  [
    Type.String(),
    ...SecretSource.anyOf.map((source) => Type.Object({ ...source.properties, ...prefix }, closed)),
  ],
  {
    description:
      'a text, or where it is kept: { "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] }, each with "prefix" if the value begins with something else',
  },
);
export type SecretValue = string | (Static<typeof SecretSource> & { readonly prefix?: string });

export const Headers = Type.Unsafe<Record<string, SecretValue>>(Type.Record(Type.String(), SecretValue));

/** The key of an object that stands for a secret in the body of a hook. */
export const secretKey = "$secret";

const optionsOf = (whatItPrints: string) =>
  optional({
    result: text(`JSON pointer to the value in the ${whatItPrints}.`),
    timeoutMs: described(Milliseconds, "Timeout; default 10000, and 60000 for clock.advance."),
  });

const hookForm =
  '{ "http": { "method", "url", "headers", "body" } } or { "command": [program, ...arguments] }';

/** A call that the harness makes for something the service's own interface does not offer. */
export const Hook = Type.Union(
  [
    Type.Object(
      {
        http: group("The call, over HTTP.", {
          method: Optional(text("GET by default, POST with a body.")),
          url: Address,
          headers: Optional(described(Headers, "Headers of the call.")),
          body: Optional(
            Type.Unknown({
              description:
                'JSON; strings in it may hold {{placeholders}}, and { "$secret": { "env": NAME } } stands for a secret.',
            }),
          ),
        }),
        ...optionsOf("answer"),
      },
      closed,
    ),
    Type.Object(
      {
        command: command(
          "Program and arguments; {{placeholders}} are replaced. It prints JSON or plain text.",
        ),
        ...optionsOf("output"),
      },
      closed,
    ),
  ],
  { description: hookForm },
);

export const hook = (purpose: string): typeof Hook => described(Hook, `${purpose} ${hookForm}`);
