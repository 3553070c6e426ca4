import Type, { type Static } from "typebox";
import { isoMillisecondsShape, uuidShape } from "./forms.ts";

export { accessTokenHeader, paths } from "./forms.ts";

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
