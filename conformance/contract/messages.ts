import Type, { type Static } from "typebox";

/** UUID-shaped: 8-4-4-4-12 hexadecimal digits; the document names no version (section 2.3). */
export const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** ISO 8601 in UTC with milliseconds (section 2.3), such as 2024-05-06T07:08:09.123Z. */
export const isoMillisecondsShape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Answer of section 4.1 when it comes as JSON. */
export const AuthorizationAnswer = Type.Object({
  timestamp: Type.Number(),
  state: Type.String(),
  code: Type.String({ minLength: 1 }),
});
export type AuthorizationAnswer = Static<typeof AuthorizationAnswer>;

/** Answer of section 4.2. */
export const TokenSet = Type.Object({
  accessToken: Type.String({ minLength: 1 }),
  refreshToken: Type.String({ minLength: 1 }),
  expiresIn: Type.Number({ exclusiveMinimum: 0 }),
  timestamp: Type.Number(),
});
export type TokenSet = Static<typeof TokenSet>;

/** Answer of section 4.3: a token set without a refreshToken. */
export const RefreshedTokenSet = Type.Object({
  accessToken: Type.String({ minLength: 1 }),
  expiresIn: Type.Number({ exclusiveMinimum: 0 }),
  timestamp: Type.Number(),
});
export type RefreshedTokenSet = Static<typeof RefreshedTokenSet>;

/** Notification of section 2.3. Further fields are allowed: the document does not close the list. */
export const Notification = Type.Object({
  id: Type.String({ pattern: uuidShape.source.replaceAll("0-9a-f", "0-9a-fA-F") }),
  accountId: Type.String({ pattern: uuidShape.source.replaceAll("0-9a-f", "0-9a-fA-F") }),
  createTime: Type.String({ pattern: isoMillisecondsShape.source }),
  businessType: Type.String(),
  businessStatus: Type.String(),
  remark: Type.String(),
  data: Type.String(),
  status: Type.String(),
});
export type Notification = Static<typeof Notification>;

/** Answer of section 4.4. */
export const NotificationPage = Type.Object({
  data: Type.Array(Notification),
  total: Type.Integer({ minimum: 0 }),
});
export type NotificationPage = Static<typeof NotificationPage>;

/** The documented paths, below the base address (section 4). */
export const paths = {
  authorize: "/open-api/oauth/authorize",
  exchange: "/open-api/oauth/access-token",
  refresh: "/open-api/oauth/refresh-token",
  notifications: "/open-api/v1/notifications",
} as const;

/** The request header that carries the access token (section 5.2). */
export const accessTokenHeader = "x-service-access-token";
