import Type from "typebox";

export const closed = { additionalProperties: false } as const;
export const Address = Type.String({ minLength: 1, description: "An absolute http or https URL." });
export const Headers = Type.Record(Type.String(), Type.String());
export const Milliseconds = Type.Number({ minimum: 0 });

/** Where a secret is kept. It is never written into a profile. */
export const SecretSource = Type.Union(
  [
    Type.Object(
      { env: Type.String({ minLength: 1, description: "Name of the environment variable." }) },
      closed,
    ),
    Type.Object(
      {
        file: Type.String({
          minLength: 1,
          description: "Path of a file that only its owner may read, relative to the profile.",
        }),
      },
      closed,
    ),
    Type.Object(
      {
        command: Type.Array(Type.String(), {
          minItems: 1,
          description: "Program and arguments; what it prints, without the line's end, is the secret.",
        }),
      },
      closed,
    ),
  ],
  { description: '{ "env": NAME }, { "file": PATH } or { "command": [program, ...arguments] }' },
);

/** One call that the harness makes for something the service's own interface does not offer. */
export const Hook = Type.Union(
  [
    Type.Object(
      {
        http: Type.Object(
          {
            method: Type.Optional(Type.String({ description: "GET by default, POST with a body." })),
            url: Address,
            headers: Type.Optional(Headers),
            body: Type.Optional(
              Type.Unknown({ description: "JSON; strings in it may hold {{placeholders}}." }),
            ),
          },
          closed,
        ),
        result: Type.Optional(Type.String({ description: "JSON pointer to the value in the answer." })),
        timeoutMs: Type.Optional(Milliseconds),
      },
      closed,
    ),
    Type.Object(
      {
        command: Type.Array(Type.String(), {
          minItems: 1,
          description: "Program and arguments; {{placeholders}} are replaced. It prints JSON or plain text.",
        }),
        result: Type.Optional(Type.String({ description: "JSON pointer to the value in what it prints." })),
        timeoutMs: Type.Optional(Milliseconds),
      },
      closed,
    ),
  ],
  {
    description:
      '{ "http": { "method", "url", "headers", "body" } } or { "command": [program, ...arguments] }',
  },
);
