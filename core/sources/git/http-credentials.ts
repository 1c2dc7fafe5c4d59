import { X509Certificate } from 'node:crypto';
import type { AuthSecret } from './auth-secret.ts';

export interface HTTPCredentials {
  readonly basic?: BasicAuth | undefined;
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCertificates: readonly string[];
}

export interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

/**
 * What a server over HTTP is shown, and trusted by: the keys `username`, `password` and `ca.crt` of
 * the Secret. Missing keys are empty strings, but a Secret for `ca.crt` alone is
 * no login. Without a Secret the URL's own user is taken.
 */
export function httpCredentials(secret: AuthSecret | undefined, url: URL): HTTPCredentials {
  if (secret === undefined) return { basic: userOf(url), caCertificates: [] };
  const authority = secret.text('ca.crt');
  const username = secret.text('username');
  const password = secret.text('password');
  const isLogin = authority === undefined || username !== undefined || password !== undefined;
  return {
    basic: isLogin ? { username: username ?? '', password: password ?? '' } : undefined,
    caCertificates: authority === undefined ? [] : [checkedAuthority(authority, secret.name)],
  };
}

function userOf({ username, password }: URL): BasicAuth | undefined {
  if (username === '' && password === '') return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/** A certificate that cannot be read would not be missed until a server is not trusted. */
function checkedAuthority(pem: string, name: string): string {
  try {
    // Of several the first tells whether it is PEM at all.
    new X509Certificate(pem).toString();
    return pem;
  } catch (error) {
    throw new Error(
      `configuring Auth error: key "ca.crt" of Secret "${name}" holds no certificate in PEM form`,
      { cause: error },
    );
  }
}
