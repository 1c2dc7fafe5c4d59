import type { GitSource } from '../../../api/v1alpha1/bundle.ts';
import type { SecretReader } from '../../contracts/source.ts';

/** The Secret that `git.auth.secret` names. */
export interface AuthSecret {
  readonly name: string;
  /** The value of a key as text; undefined where there is no such key. */
  text(key: string): string | undefined;
}

/**
 * Undefined where none is named.
 * @throws Error where there is no such Secret; it may still come
 */
export async function readAuthSecret(
  { auth }: GitSource,
  secrets: SecretReader,
  signal: AbortSignal,
): Promise<AuthSecret | undefined> {
  const name = auth?.secret?.name ?? '';
  if (name === '') return undefined;
  const secret = await secrets.read(name, signal);
  if (secret === undefined) throw new Error(`configuring Auth error: Secret "${name}" not found`);
  return {
    name,
    text: (key) => {
      const value = secret.data.get(key);
      return value === undefined ? undefined : Buffer.from(value).toString('utf8');
    },
  };
}
