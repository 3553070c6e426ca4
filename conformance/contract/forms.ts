/*
 * Addresses and forms of the document as plain values, apart from the schemas, so that what runs
 * inside k6 need not carry a schema library.
 */

/** UUID-shaped: 8-4-4-4-12 hexadecimal digits; the document names no version (section 2.3). */
export const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** ISO 8601 in UTC with milliseconds (section 2.3), such as 2024-05-06T07:08:09.123Z. */
export const isoMillisecondsShape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** The documented paths, below the base address (section 4). */
export const paths = {
  authorize: "/open-api/oauth/authorize",
  exchange: "/open-api/oauth/access-token",
  refresh: "/open-api/oauth/refresh-token",
  notifications: "/open-api/v1/notifications",
} as const;

/** The request header that carries the access token (section 5.2). */
export const accessTokenHeader = "x-service-access-token";
