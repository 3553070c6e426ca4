import { hookPlaceholders } from "../../contract/profile-fetched.ts";
import { Profile } from "../../contract/profile.ts";
import { code, page, table } from "./markdown.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

export interface ProfileKey {
  readonly key: string;
  readonly accepted: string;
  readonly isRequired: boolean;
  readonly description: string;
}

const bounds = ["minimum", "exclusiveMinimum", "maximum", "minItems", "maxItems", "pattern"] as const;

const words: Readonly<Record<(typeof bounds)[number], string>> = {
  minimum: "from",
  exclusiveMinimum: "over",
  maximum: "to",
  minItems: "at least",
  maxItems: "at most",
  pattern: "like",
};

const acceptedBy = (schema: Schema): string => {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(acceptedBy))].join(" or ");
  if (schema.type === "array") return `list${limitsOf(schema)}`;
  if (schema.patternProperties !== undefined) return "object of names";
  return `${schema.type ?? "any JSON"}${limitsOf(schema)}`;
};

const limitsOf = (schema: Schema): string => {
  const said = bounds.flatMap((bound) =>
    schema[bound] === undefined ? [] : [`${words[bound]} ${schema[bound]}`],
  );
  return said.length === 0 ? "" : `, ${said.join(" ")}`;
};

/** The alternatives of secrets and hooks are described once, not at every key. */
const isTold = ({ anyOf }: Schema): boolean =>
  (anyOf ?? []).some(
    ({ properties }) => properties !== undefined && ("env" in properties || "http" in properties),
  );

const inside = (schema: Schema, key: string): readonly ProfileKey[] => {
  if (isTold(schema)) return [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const path = key === "" ? name : `${key}.${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    const { description = "" } = inner;
    return [{ key: path, accepted: acceptedBy(inner), isRequired, description }, ...inside(inner, path)];
  });
  const items = schema.items === undefined ? [] : inside(schema.items, `${key}[]`);
  return [...own, ...items, ...(schema.anyOf ?? []).flatMap((arm) => inside(arm, key))];
};

/** Every key of a profile, in the order of its schema. */
export const profileKeys = (): readonly ProfileKey[] => inside(Profile as unknown as Schema, "");

/** The alternatives of a secret and of a hook, each with its own keys. */
const alternatives = (schema: Schema): readonly ProfileKey[] =>
  (schema.anyOf ?? []).flatMap((arm) => inside(arm, ""));

/** The forms of hooks and secrets are described once, below. */
const linked = (description: string): string =>
  description
    .replace(/\{ "http": .*$/, "A [hook](#a-hook).")
    .replace(/^\{ "env": NAME \}.*$/, "A [secret](#a-secret).");

const rowsOf = (keys: readonly ProfileKey[]): readonly (readonly string[])[] =>
  keys.map(({ key, accepted, isRequired, description }) => [
    code(key),
    isRequired ? `${accepted}; required` : accepted,
    linked(description),
  ]);

const head = ["key", "accepted", "meaning"];

export const profilePage = (): string => {
  const { clients, hooks } = Profile.properties;
  const secret = clients.items.properties.secret as unknown as Schema;
  const trigger = hooks.properties.events.properties.trigger as unknown as Schema;
  const placeholders = Object.entries(hookPlaceholders).map(([name, given]) => [
    code(name),
    given.map((one) => code(`{{${one}}}`)).join(", "),
  ]);
  return page(
    "Profile",
    "Every key of a profile, from its schema. [How to write one](../how-to/profile.md).",
    [
      table(head, rowsOf(profileKeys())),
      "## A secret",
      "One of these keys; in a header or query, `prefix` may stand beside it.",
      table(head, rowsOf(alternatives(secret))),
      "## A hook",
      "`http` or `command`, with the keys beside it.",
      table(head, rowsOf(alternatives(trigger))),
      "Placeholders:",
      table(["hook", "placeholders"], placeholders),
    ],
  );
};
