import { X509Certificate } from 'node:crypto';
import type { SecretContent, SourceContext } from '../../contracts/source.ts';

export interface HttpAccess {
  /** The header's value; undefined where nobody is to be told who we are. */
  readonly authorization: string | undefined;
  /** PEM. */
  readonly caCertificates: readonly string[];
}

/**
 * What the Secret of an http source gives: basic auth from `username` and `password`, an authority
 * to trust from `ca.crt`. The Secret may still come or be mended, so its faults are tried again.
 */
export async function httpAccess(
  secretName: string | undefined,
  { secrets, signal }: Pick<SourceContext, 'secrets' | 'signal'>,
): Promise<HttpAccess> {
  if (secretName === undefined || secretName === '') {
    return { authorization: undefined, caCertificates: [] };
  }
  const secret = await secrets.read(secretName, signal);
  if (secret === undefined) throw new Error(`Secret "${secretName}" not found`);
  return { authorization: basicAuth(secret), caCertificates: authority(secret, secretName) };
}

/** As RukPak does, one missing key is an empty string; a Secret for `ca.crt` alone has neither. */
function basicAuth({ data }: SecretContent): string | undefined {
  if (!data.has('username') && !data.has('password')) return undefined;
  const text = (key: string): string => Buffer.from(data.get(key) ?? []).toString('utf8');
  const pair = Buffer.from(`${text('username')}:${text('password')}`);
  return `Basic ${pair.toString('base64')}`;
}

function authority({ data }: SecretContent, name: string): readonly string[] {
  const ca = data.get('ca.crt');
  if (ca === undefined) return [];
  const pem = Buffer.from(ca).toString('utf8');
  if (!isCertificate(pem)) {
    throw new Error(`Secret "${name}": its key ca.crt holds no PEM certificate`);
  }
  return [pem];
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
