/** The credentials in what a ledger locks away, each with what it is, to be kept out of everything that is written. */
export const credentialsIn = (
  secret: string,
): readonly (readonly [value: string, kind: "code" | "access token" | "refresh token"])[] => {
  const { code, accessToken, refreshToken } = JSON.parse(secret) as Readonly<Record<string, unknown>>;
  return (
    [
      [code, "code"],
      [accessToken, "access token"],
      [refreshToken, "refresh token"],
    ] as const
  ).flatMap(([value, kind]) => (typeof value === "string" ? [[value, kind] as const] : []));
};
