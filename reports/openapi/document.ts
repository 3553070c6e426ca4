import { accessTokenHeader } from "../../conformance/contract/forms.ts";
import { paths, promisesOf, push } from "./operations.ts";
import { schemas, type JsonObject } from "./schemas.ts";

const description = [
  "The interface that Touchstone judges: the OAuth 2.0 authorization code flow, paged notifications, and pushes to a webhook.",
  "What the service's document leaves open is left open here: no request parameter is required, further fields are allowed, and refusals may have any status and body. x-requirements names the promises that no schema can state; x-left-open names what is not shown.",
  "All bodies are JSON. Requests carry Content-Type: application/json, GET requests too. Which content type answers declare is not shown.",
].join("\n\n");

/** The service's contract as an OpenAPI 3.1 document, made from the definitions that the rules judge by. */
export const openApiDocument = (version: string): JsonObject => ({
  openapi: "3.1.1",
  info: { title: "Open API with webhook notifications", version, description },
  servers: [
    {
      url: "{baseUrl}",
      description: "The service under test.",
      variables: {
        baseUrl: { default: "https://service.example", description: "What stands before /open-api/." },
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
