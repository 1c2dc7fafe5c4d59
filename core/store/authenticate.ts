import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

/** Who asks: a token that is yet to be reviewed, or the user of a certificate that TLS verified. */
export type Caller = { readonly token: string } | { readonly user: User };

export interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

/** As Kubernetes adds it to everybody whom it knows. */
const everyUser = 'system:authenticated';

/** The caller of a request, by certificate before token as in Kubernetes; undefined for nobody. */
export function callerOf({ socket, headers }: IncomingMessage): Caller | undefined {
  const user = socket instanceof TLSSocket ? certifiedUser(socket) : undefined;
  if (user !== undefined) return { user };
  const token = bearerToken(headers.authorization);
  return token === undefined ? undefined : { token };
}

/** A certificate's CN and O. One that is not trusted, or names nobody, is as good as none. */
function certifiedUser(socket: TLSSocket): User | undefined {
  if (!socket.authorized) return undefined;
  const { subject, valid_to: validTo } = socket.getPeerCertificate();
  // A connection may outlive its certificate.
  if (!(Date.parse(validTo) > Date.now())) return undefined;
  // Types know one value each; a subject may hold several, and which of two names counts is unclear.
  const { CN: username, O: organizations = [] } = subject as Record<string, unknown>;
  if (typeof username !== 'string' || username === '') return undefined;
  return { username, groups: [...[organizations].flat().map(String), everyUser] };
}

/** The token of an `Authorization: Bearer <token>` header; undefined where there is none. */
function bearerToken(authorization = ''): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(authorization)?.[1];
}
