import type { SecretReader } from '../../contracts/source.ts';
import type { BasicAuth } from './http-transport.ts';

/**
 * The user name and password of a git source's Secret; missing keys are empty strings
 * (spec section 3.2). The Secret may still come, so its absence is tried again.
 */
export async function basicAuth(
  secretName: string | undefined,
  secrets: SecretReader,
  signal: AbortSignal,
): Promise<BasicAuth | undefined> {
  if (secretName === undefined || secretName === '') return undefined;
  const secret = await secrets.read(secretName, signal);
  if (secret === undefined) {
    throw new Error(`configuring Auth error: Secret "${secretName}" not found`);
  }
  const text = (key: string): string => Buffer.from(secret.data.get(key) ?? []).toString('utf8');
  return { username: text('username'), password: text('password') };
}
