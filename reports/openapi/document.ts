import { accessTokenHeader, endpoints, type Endpoint } from "../../conformance/contract/forms.ts";
import { schemas, reference, state, type JsonObject } from "./schemas.ts";
import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import { duration } from "../../conformance/contract/duration.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { Group } from "../../conformance/contract/requirement.ts";

const description = [
  "The interface that Touchstone judges: the OAuth 2.0 authorization code flow, paged notifications, and webhook pushes.",
  "What the service's document leaves open stays open here: no request parameter is required, additional fields are allowed, and refusals may have any status and body. x-requirements names the promises that a schema cannot state; x-left-open names what the document does not show.",
  "All bodies are JSON. Requests carry Content-Type: application/json, including GET requests. The content type of answers is not shown.",
].join("\n\n");

/** The service's contract as an OpenAPI 3.1 document, made from the definitions used by the rules. */
export const openApiDocument = (version: string): JsonObject => ({
  openapi: "3.1.1",
  info: { title: "Open API with webhook notifications", version, description },
  servers: [
    {
      url: "{baseUrl}",
      description: "The service under test.",
      variables: {
        baseUrl: { default: "https://service.example", description: "The address before /open-api/." },
      },
    },
  ],
  paths,
  webhooks: { notification: { post: push } },
  components: {
    schemas,
    securitySchemes: {
      accessToken: {
        type: "apiKey",
        in: "header",
        name: accessTokenHeader,
        description: "The accessToken of an exchange or a refresh (section 5.2).",
      },
    },
  },
  ...promisesOf("whole", "untestable"),
});

const limits = documentLimits;

/** The promises about a part of the document and what it leaves open, as catalogue ids. */
const promisesOf = (...groups: readonly Group[]): JsonObject => {
  const sentences = (isOpen: boolean): JsonObject =>
    Object.fromEntries(
      requirementIds
        .map((id) => [id, catalogue[id]] as const)
        .filter(([, { group }]) => groups.includes(group))
        .filter(([, { level }]) => (level === "unspecified" || level === "untestable") === isOpen)
        .map(([id, { sentence }]) => [id, sentence]),
    );
  return { "x-requirements": sentences(false), "x-left-open": sentences(true) };
};

const json = (name: keyof typeof schemas): JsonObject => ({
  content: { "application/json": { schema: reference(name) } },
});

const refused: JsonObject = {
  description:
    "A refused request. Status and body are not shown (section 7): any status may be used, including 2XX, with any body.",
};

const query = (name: string, description: string, schema: JsonObject): JsonObject => ({
  name,
  in: "query",
  required: false,
  description,
  schema,
});

const authorizeOperation: JsonObject = {
  operationId: "authorize",
  summary: "Obtain an authorization code",
  description: "Section 4.1. Whether each parameter is required is not shown.",
  parameters: [
    query("clientId", "Client id.", { type: "string" }),
    query("state", "Echoed back. Longer states, and states with other characters, are refused.", state),
    query("redirectUri", "Callback address; URL-encoded.", { type: "string" }),
  ],
  responses: {
    "2XX": {
      description: "The code, as JSON.",
      ...json("Grant"),
      links: {
        exchange: {
          operationId: "exchange",
          requestBody: { code: "$response.body#/code" },
          description: `The code works once, within ${duration(limits.codeLifetimeMs)} of its issue.`,
        },
      },
    },
    "3XX": {
      description: "The code, in a redirect. The exact redirect behaviour is not shown.",
      headers: {
        Location: { schema: { type: "string" }, description: "redirectUri with code and state added." },
      },
    },
    default: refused,
  },
  "x-code-lifetime-seconds": limits.codeLifetimeMs / 1_000,
  ...promisesOf("authorize"),
};

const listLink: JsonObject = {
  operationId: "list",
  parameters: { [`header.${accessTokenHeader}`]: "$response.body#/accessToken" },
  description: "The accessToken works at once, and for expiresIn seconds from its issue.",
};

const exchangeOperation: JsonObject = {
  operationId: "exchange",
  summary: "Exchange a code for an access token",
  description: `Section 4.2. A code works once, within ${duration(limits.codeLifetimeMs)} of its issue.`,
  requestBody: json("ExchangeRequest"),
  responses: {
    "2XX": {
      description: "The token set.",
      ...json("TokenSet"),
      links: {
        list: listLink,
        refresh: {
          operationId: "refresh",
          requestBody: { refreshToken: "$response.body#/refreshToken" },
          description: `The refreshToken works for ${duration(limits.refreshTokenLifetimeMs)} from its issue.`,
        },
      },
    },
    default: refused,
  },
  "x-refresh-token-lifetime-seconds": limits.refreshTokenLifetimeMs / 1_000,
  ...promisesOf("code", "exchange"),
};

const refreshOperation: JsonObject = {
  operationId: "refresh",
  summary: "Refresh an access token",
  description: `Section 4.3. After ${duration(limits.refreshTokenLifetimeMs)} the client must authorize again.`,
  requestBody: json("RefreshRequest"),
  responses: {
    "2XX": {
      description: "A new accessToken, and no new refreshToken.",
      ...json("RefreshedToken"),
      links: { list: listLink },
    },
    default: refused,
  },
  ...promisesOf("refresh"),
};

const listOperation: JsonObject = {
  operationId: "list",
  summary: "List notifications",
  description: "Section 4.4. The answer to undocumented values is not shown.",
  security: [{ accessToken: [] }],
  parameters: [
    query("id", "Only the notification with this id.", { type: "string" }),
    query("limit", "Page size. The maximum is not shown.", {
      type: "number",
      default: limits.defaultLimit,
    }),
    query("page", "Page number.", { type: "number", default: limits.defaultPage }),
    query("accountId", "Only notifications of this account.", { type: "string" }),
  ],
  responses: { "2XX": { description: "A page.", ...json("NotificationPage") }, default: refused },
  ...promisesOf("access", "notifications"),
};

const operations: Readonly<Record<Endpoint, JsonObject>> = {
  authorize: authorizeOperation,
  exchange: exchangeOperation,
  refresh: refreshOperation,
  list: listOperation,
};

const paths: JsonObject = Object.fromEntries(
  Object.entries(endpoints).map(([name, { method, path }]) => [
    path,
    { [method.toLowerCase()]: operations[name as Endpoint] },
  ]),
);

const delays = limits.pushDelaysMs.map(duration).join(", ");

const push: JsonObject = {
  operationId: "push",
  summary: "Push a notification to the client's callback address",
  description: [
    "Section 4.5. Sent by the service as POST https://<host:port>/service/webhook, to the one callback address that the client provides.",
    `A push counts as unsuccessful if the expected return code is not received. Failed pushes are retried after ${delays}, each later one delayed further; ${limits.maxPushes} pushes at most.`,
    "The expected return code, and how a receiver can authenticate a push, are not shown.",
  ].join("\n\n"),
  requestBody: { required: true, ...json("PushedNotification") },
  responses: {
    "2XX": {
      description: "Received, if this is the expected code, which is not shown. The push is not retried.",
      ...json("Acknowledgement"),
    },
    default: { description: "Not received: the push is retried according to its schedule." },
  },
  "x-callback-path": "/service/webhook",
  "x-retry-delays-seconds": limits.pushDelaysMs.map((delayMs) => delayMs / 1_000),
  "x-max-pushes": limits.maxPushes,
  "x-retry-readings": catalogue["push.schedule"].readings,
  ...promisesOf("push"),
};
