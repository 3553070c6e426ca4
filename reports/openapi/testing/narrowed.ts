import type { FakeClient } from "../../../fake-server/clients.ts";
import { openApiDocument } from "../document.ts";
import type { JsonObject } from "../schemas.ts";

/**
 * The published document, or a version narrowed for one service: with the client's own values and with every parameter
 * required. Anyone testing with it only gains from the stricter document.
 */
export const documentFor = (kind: "narrowed" | "published", client: FakeClient): JsonObject => {
  const document = openApiDocument("0");
  return kind === "published" ? document : (narrow(document, known(client)) as JsonObject);
};

const known = ({ id, secret, redirectUri }: FakeClient): Readonly<Record<string, string>> => ({
  clientId: id,
  clientSecret: secret,
  redirectUri,
});

const REQUESTS = new Set(["ExchangeRequest", "RefreshRequest"]);

const narrow = (value: unknown, values: Readonly<Record<string, string>>, at = ""): unknown => {
  if (Array.isArray(value)) return value.map((inner: unknown) => narrow(inner, values, at));
  if (typeof value !== "object" || value === null) return value;
  const inner: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) inner[key] = narrow(one, values, key);
  const { name, properties } = inner;
  if (inner["in"] === "query" && typeof name === "string") {
    if (name in values) return { ...inner, required: true, schema: { type: "string", enum: [values[name]] } };
    if (name === "state")
      return { ...inner, required: true, schema: { ...(inner["schema"] as object), minLength: 1 } };
  }
  if (at === "requestBody") return { ...inner, required: true };
  if (!REQUESTS.has(at)) return inner;
  const fields = Object.keys(properties as object);
  return {
    ...inner,
    required: fields,
    properties: Object.fromEntries(
      fields.map((field) => [
        field,
        field in values ? { type: "string", enum: [values[field]] } : (properties as JsonObject)[field],
      ]),
    ),
  };
};
