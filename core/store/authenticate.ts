/** The token of an `Authorization: Bearer <token>` header; undefined where there is none. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
}
