import { getCACertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { SecretContent } from '../../contracts/source.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import { parseImageReference, readPullSecret } from '../index.ts';

const { signal } = new AbortController();
const auths = { 'quay.io': { username: 'u', password: 'p' } };

function reader(type: string, data: Record<string, string>) {
  const content: SecretContent = {
    type,
    data: new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value)])),
  };
  return { read: async () => content };
}

describe('readPullSecret', () => {
  it.each([
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': JSON.stringify({ auths }) }],
    ['kubernetes.io/dockercfg', { '.dockercfg': JSON.stringify(auths) }],
  ])('reads type %s', async (type, data) => {
    const { keychain } = await readPullSecret('s', reader(type, data), signal);
    expect(keychain.credentialsFor(parseImageReference('quay.io/x'))).toEqual([
      { username: 'u', password: 'p' },
    ]);
  });

  it('reads the authorities to trust', async () => {
    const pem = getCACertificates('bundled')[0] ?? '';
    const data = { '.dockercfg': '{}', 'ca.crt': pem };
    const secret = await readPullSecret('s', reader('kubernetes.io/dockercfg', data), signal);
    expect(secret.caCertificates).toBe(pem);
  });

  it.each([undefined, ''])('asks for no Secret where the name is %j', async (name) => {
    const read = () => Promise.reject(new Error('asked'));
    const { keychain } = await readPullSecret(name, { read }, signal);
    expect(keychain.credentialsFor(parseImageReference('quay.io/x'))).toEqual([]);
  });

  it('pulls without credentials when the Secret does not exist, and logs that', async () => {
    const none = { read: () => Promise.resolve(undefined) };
    const { keychain } = await readPullSecret('s', none, signal);
    expect(keychain.credentialsFor(parseImageReference('quay.io/x'))).toEqual([]);
    expect(keychain.shortcoming).toBe('pull secret "s" not found in the system namespace');
  });

  it.each([
    [
      'of another type',
      reader('Opaque', { '.dockerconfigjson': '{}' }),
      'pull secret "s" of the system namespace is of type Opaque; it must be kubernetes.io/dockerconfigjson',
    ],
    [
      'without its key',
      reader('kubernetes.io/dockerconfigjson', { '.dockercfg': '{}' }),
      'pull secret "s" of the system namespace has no key ".dockerconfigjson", which its type kubernetes.io/dockerconfigjson requires',
    ],
    [
      'damaged',
      reader('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{' }),
      'pull secret "s" of the system namespace cannot be read: .dockerconfigjson: it is not valid JSON',
    ],
    [
      'of no authority',
      reader('kubernetes.io/dockercfg', { '.dockercfg': '{}', 'ca.crt': 'PEM' }),
      'pull secret "s" of the system namespace cannot be read: ca.crt: it is not a PEM certificate',
    ],
  ])('reports the problem of a Secret that is %s, and retries', async (_, secrets, text) => {
    const error: unknown = await readPullSecret('s', secrets, signal).catch((e) => e);
    expect(error).toEqual(new Error(text));
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error).not.toBeInstanceOf(WaitingError);
  });
});
