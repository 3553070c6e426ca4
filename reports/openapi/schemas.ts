import { isoMillisecondsShape, stateShape, uuidShape } from "../../conformance/contract/forms.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { notificationForms } from "../../conformance/judging/laws/notification.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** JSON Schema has no regular expression flags. */
const uuid: JsonObject = { type: "string", pattern: uuidShape.source.replaceAll("a-f", "a-fA-F") };

const formSchemas = {
  uuid,
  moment: {
    type: "string",
    pattern: isoMillisecondsShape.source,
    description: "ISO 8601 in UTC with milliseconds.",
  },
  string: { type: "string" },
} as const satisfies Readonly<Record<(typeof notificationForms)[keyof typeof notificationForms], JsonObject>>;

const text = (description: string): JsonObject => ({ type: "string", minLength: 1, description });
const plainText = (description: string): JsonObject => ({ type: "string", description });
const timestamp: JsonObject = {
  type: "number",
  description: "Time of the response. Its unit is not shown.",
};
const expiresIn: JsonObject = {
  type: "number",
  exclusiveMinimum: 0,
  description: "Validity time of the accessToken, in seconds from its issue.",
};

/** An object with all documented fields; more are allowed, because the document does not close its lists. */
const object = (properties: JsonObject, description: string, more: JsonObject = {}): JsonObject => ({
  type: "object",
  description,
  required: Object.keys(properties),
  properties: { ...properties, ...more },
});

/** A request body. Which fields are required is not shown (section 4). */
const body = (properties: JsonObject): JsonObject => ({
  type: "object",
  description: "Whether each field is required is not shown.",
  properties,
});

const notification = Object.fromEntries(
  Object.entries(notificationForms).map(([name, form]) => [name, formSchemas[form]]),
);

export const state: JsonObject = {
  type: "string",
  maxLength: documentLimits.stateMaxBytes,
  pattern: stateShape.source,
};
export { uuid };

export const schemas = {
  Grant: object(
    {
      timestamp,
      state: { ...state, description: "The state of the request, exactly as sent." },
      code: text("Ticket for one exchange."),
    },
    "Answer to an authorization (section 4.1).",
  ),
  ExchangeRequest: body({
    clientId: plainText("Client id."),
    clientSecret: plainText("Client secret."),
    code: plainText("Code of an authorization."),
  }),
  TokenSet: object(
    {
      accessToken: text("Credential for calling the API."),
      refreshToken: text("Used to obtain a new accessToken."),
      expiresIn,
      timestamp,
    },
    "Answer to an exchange (section 4.2).",
  ),
  RefreshRequest: body({
    clientId: plainText("Client id."),
    refreshToken: plainText("The refreshToken of the exchange."),
  }),
  RefreshedToken: object(
    { accessToken: text("Credential for calling the API."), expiresIn, timestamp },
    "Answer to a refresh (section 4.3). It has no new refreshToken.",
    { refreshToken: { enum: [null, ""], description: "Not returned; empty if the field is present." } },
  ),
  Notification: object(
    notification,
    "A notification (section 2.3). The possible values of businessType, businessStatus and status are not shown.",
  ),
  NotificationPage: object(
    {
      data: { type: "array", items: reference("Notification") },
      total: { type: "integer", minimum: 0, description: "Number of matching notifications." },
    },
    "Answer to a list request (section 4.4).",
  ),
  PushedNotification: {
    description:
      "A notification as pushed (section 2.4). A Template field identifies the event; its values and any other fields are not shown.",
    allOf: [reference("Notification")],
  },
  Acknowledgement: object(
    {
      id: { ...uuid, description: "Id of the pushed notification." },
      received: { const: true, description: "true confirms receipt." },
    },
    "Acknowledgement of a push (section 2.4).",
  ),
} as const satisfies Readonly<Record<string, JsonObject>>;
