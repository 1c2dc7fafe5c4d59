import { describe, expect, test } from 'vitest';
import type { Bundle, BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { sourceTypes } from '../../../test/helpers/source-types.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import type { SecretContent } from '../../contracts/source.ts';
import { WaitingError } from '../../errors.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { type SourceReader, SourceSecrets } from './source-secrets.ts';

const { signal } = new AbortController();
const auth = { secret: { name: 'login' } };
const account: ServiceAccountRef = { namespace: 'team-a', name: 'deployer' };

function http(url: string): BundleSource {
  return { type: 'http', http: { url, auth } };
}

function git(repository: string): BundleSource {
  return { type: 'git', git: { repository, ref: { branch: 'main' }, auth } };
}

interface Given {
  /** Default: the account, or core. */
  readonly reader?: SourceReader;
  readonly hosts?: readonly string[] | undefined;
  readonly allowUnscoped?: boolean;
  readonly account?: ServiceAccountRef;
  /** Of the account's namespace. */
  readonly ofAccount?: () => Promise<SecretContent | undefined>;
}

function secrets({
  hosts,
  allowUnscoped = false,
  account,
  ofAccount,
  ...given
}: Given): SourceSecrets {
  const secret: SecretContent = { type: 'Opaque', data: new Map(), ...(hosts && { hosts }) };
  return new SourceSecrets({
    sources: sourceTypes,
    system: { read: async (name) => (name === 'login' ? secret : undefined) },
    as: ({ namespace }) => ({
      place: `namespace "${namespace}"`,
      read: ofAccount ?? (async () => secret),
    }),
    readerOf: () => given.reader ?? account ?? 'core',
    allowUnscoped,
  });
}

async function reading(source: BundleSource, given: Given): Promise<SecretContent | undefined> {
  const bundle: Bundle = aStoredBundle({ source });
  return await secrets(given).of(bundle).read('login', signal);
}

describe('a Secret is shown to a host of its annotation:', () => {
  test.each([
    ['git.example.com', git('https://git.example.com/r')],
    ['git.example.com', git('https://Git.Example.com:443/r')],
    ['git.example.com:443', git('https://git.example.com/r')],
    ['git.example.com', git('ssh://git@git.example.com/r')],
    ['git.example.com', git('git@git.example.com:owner/r')],
    ['git.example.com:2222', git('ssh://git@git.example.com:2222/r')],
    ['*.corp:8443', http('https://files.corp:8443/a.tgz')],
    ['[2001:db8::1]:8443', http('https://[2001:db8::1]:8443/a.tgz')],
  ])('%s, %j', async (host, source) => {
    expect(await reading(source, { hosts: ['other.example.com', host] })).toBeDefined();
  });
});

describe('a Secret is not shown to any other:', () => {
  test.each([
    ['git.example.com', git('https://evil.example.com/r')],
    ['git.example.com', git('https://git.example.com:8443/r')],
    ['git.example.com', git('https://git.example.com.evil.net/r')],
    ['git.example.com', git('https://git.example.com@evil.net/r')],
    ['git.example.com', http('https://evil.net/git.example.com')],
    ['git.example.com', git('git.example.com@evil.net:r')],
    ['*.corp', http('https://a.b.corp/a.tgz')],
    ['files.corp', { ...http('https://evil.net/a.tgz'), git: git('https://files.corp/r').git }],
    ['files.corp', { ...http('https://evil.net/a.tgz'), image: { ref: 'files.corp/a' } }],
    ['', git('https://git.example.com/r')],
  ])('%j, %j', async (host, source) => {
    await expect(reading(source, { hosts: [host] })).rejects.toThrow(
      /^Secret "login" of the system namespace is not for host "/,
    );
  });
});

test('a Secret that names no hosts is shown to none, unless an admin says so', async () => {
  const source = http('https://files.example.com/a.tgz');
  await expect(reading(source, {})).rejects.toThrow(
    'Secret "login" of the system namespace names no hosts: to let core send it to "files.example.com", add "files.example.com" to its annotation core.rukpak.io/source-hosts, a comma-separated list such as "files.example.com,*.example.com:8443"',
  );
  expect(await reading(source, { allowUnscoped: true })).toBeDefined();
  await expect(reading(source, { allowUnscoped: true, hosts: ['a.b'] })).rejects.toThrow('not for');
});

test('a pull secret names its registries itself', async () => {
  const image = { type: 'image', image: { ref: 'example.com/app:v1', pullSecret: 'login' } };
  expect(await reading(image, {})).toBeDefined();
});

describe('of a deployment with a ServiceAccount', () => {
  const source = http('https://files.example.com/a.tgz');
  const image = { type: 'image', image: { ref: 'example.com/app:v1', pullSecret: 'login' } };

  test('the Secret is that of its namespace', async () => {
    const hosts = ['files.example.com'];
    const own: SecretContent = { type: 'own', data: new Map(), hosts };
    const given = { account, ofAccount: async () => own };
    expect(await reading(source, given)).toBe(own);
  });

  test('a Secret that is not there is none of the system namespace', async () => {
    const given = { account, hosts: ['files.example.com'], ofAccount: async () => undefined };
    await expect(reading(source, given)).rejects.toThrow(
      'Secret "login" not found in namespace "team-a"',
    );
    expect(await reading(image, given)).toBeUndefined();
  });

  test('a Secret that it may not read is named, with what to do', async () => {
    const ofAccount = async (): Promise<never> => {
      throw new ApiError(403, { reason: 'Forbidden', message: 'secrets "login" is forbidden' });
    };
    await expect(reading(source, { account, ofAccount })).rejects.toThrow(
      'Secret "login" cannot be read with the permissions of ServiceAccount team-a/deployer, which spec.serviceAccount of the BundleDeployment names: allow the account to get it (secrets "login" is forbidden)',
    );
  });

  test('content fetched with a Secret is shared only with deployments of the same rights', () => {
    const of = (source: BundleSource, given: Given): string =>
      secrets(given).identityOf(aStoredBundle({ source }));
    expect(of(source, { account })).toBe('team-a/deployer');
    expect(of(image, { account })).toBe('team-a/deployer');
    expect(of(source, {})).toBe('');
    expect(of({ type: 'image', image: { ref: 'a' } }, { account })).toBe('');
  });
});

describe('as long as nobody may read', () => {
  const reader = new WaitingError('BundleDeployment "demo" does not exist');
  const given: Given = { reader, hosts: ['files.example.com'], allowUnscoped: true };
  const http1 = http('https://files.example.com/a.tgz');
  const image = { type: 'image', image: { ref: 'example.com/app:v1', pullSecret: 'login' } };

  test.each([http1, image, git('https://files.example.com/r'), { type: 'acme' }])(
    'no Secret is read, and none of another reader: %j',
    async (source) => {
      await expect(reading(source, given)).rejects.toBe(reader);
      expect(secrets(given).identityOf(aStoredBundle({ source }))).toBe('Bundle uid-of-demo');
    },
  );

  test('a source without a Secret shares its content, and does not wait', () => {
    const bundle = aStoredBundle();
    expect(secrets(given).identityOf(bundle)).toBe('');
    expect(() => secrets(given).of(bundle)).not.toThrow();
  });
});

test('a source reads no other Secret than it names: Bundles of other readers may share its fetch', async () => {
  const source: BundleSource = { type: 'http', http: { url: 'https://files.corp/a.tgz' } };
  for (const each of [source, http('https://files.corp/a.tgz')]) {
    const reader = secrets({ hosts: ['files.corp'], account }).of(aStoredBundle({ source: each }));
    await expect(reader.read('other', signal)).rejects.toThrow(
      'source type "http" reads Secret "other", which its function "secret" does not name: let it name this Secret, or leave it out if the source reads several',
    );
  }
});

test.each([[['files.corp']], [undefined]])(
  'a source that names no server for its parameters gets no Secret for hosts %j',
  async (hosts) => {
    await expect(reading({ type: 'acme', parameters: {} }, { hosts })).rejects.toThrow(
      'Secret "login" of the system namespace is for hosts, and source type "acme" names none for this spec: its function "host" must name the server that gets the Secret',
    );
  },
);
