import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { systemClock } from '../../platform/clock.ts';
import { emptyKeychain, type ImageVerifier, RegistryAccess } from '../index.ts';

const { signal } = new AbortController();
let registry: FakeRegistry;

beforeEach(async () => {
  registry = await FakeRegistry.start();
});

afterEach(() => registry.stop());

function accessWith(verifier: ImageVerifier): RegistryAccess {
  return new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
    verifier,
  });
}

test('an image that the policy refuses is not opened, and one that it accepts is', async () => {
  const { digest } = await registry.addImage('v1', [{ files: { a: '' } }]);
  const seen: unknown[] = [];
  const accepting = accessWith({
    verify: async ({ repository, digest: verified }) => {
      seen.push({ repository, digest: verified });
    },
  });
  const { manifest } = await accepting.open(`${registry.host}/app:v1`, signal);
  expect(manifest.digest).toBe(digest);
  expect(seen).toEqual([{ repository: `${registry.host}/app`, digest }]);
  const refusing = accessWith({
    verify: async () => {
      throw new Error('nobody signed it');
    },
  });
  await expect(refusing.open(`${registry.host}/app:v1`, signal)).rejects.toThrow(
    'nobody signed it',
  );
});
