import { describe, expect, test } from 'vitest';
import { cpuTime } from '../../../../test/helpers/cpu-time.ts';
import { parseImagePolicies } from './image-policy.ts';

function policies(spec: object, kind = 'ClusterImagePolicy'): unknown {
  const apiVersion = 'policy.sigstore.dev/v1beta1';
  const text = JSON.stringify({ apiVersion, kind, metadata: { name: 'acme' }, spec });
  return parseImagePolicies('policy.yaml', Buffer.from(text));
}

const images = [{ glob: '**' }];
const authorities = [{ static: { action: 'pass' } }];

test.each([
  ['an unknown field', { images, authorities, match: [] }, /policy\.yaml, acme: spec: .*"match"/],
  ['no images', { authorities }, 'policy.yaml, acme: spec.images: '],
  [
    'an authority of two kinds',
    { images, authorities: [{ static: { action: 'pass' }, key: { data: '' } }] },
    'spec.authorities.0: needs exactly one of key, keyless and static',
  ],
  [
    'a private key',
    { images, authorities: [{ key: { data: '-----BEGIN EC PRIVATE KEY-----' } }] },
    'spec.authorities[0].key.data: not a public key: it is not a PEM block "PUBLIC KEY"',
  ],
  [
    'an identity without an issuer',
    { images, authorities: [{ keyless: { identities: [{ subject: 'a' }] } }] },
    'spec.authorities.0.keyless.identities.0: needs issuer or issuerRegExp',
  ],
  [
    'a broken pattern',
    { images, authorities: [{ keyless: { identities: [{ issuer: 'a', subjectRegExp: '(' }] } }] },
    '"(" is not a valid regular expression',
  ],
  ['a mode that only warns', { images, authorities, mode: 'warn' }, 'spec.mode: '],
])('refuses %s', (_, spec, message) => {
  expect(() => policies(spec)).toThrow(message);
});

test('refuses other kinds and empty files', () => {
  expect(() => policies({ images, authorities }, 'Policy')).toThrow('policy.yaml, acme: kind: ');
  expect(() => parseImagePolicies('policy.yaml', Buffer.from('# nothing'))).toThrow(
    'policy.yaml holds no ClusterImagePolicy',
  );
});

test('a pattern takes no time over a text that a stranger chose', () => {
  const keyless = { identities: [{ issuer: 'a', subjectRegExp: '^(x+x+)+$' }] };
  const globs = [{ glob: `${'**a'.repeat(12)}b` }];
  const spec = { images: globs, authorities: [{ keyless }] };
  const [policy] = policies(spec) as ReturnType<typeof parseImagePolicies>;
  const [authority] = policy?.authorities ?? [];
  if (authority?.type !== 'keyless') throw new Error('it is no keyless authority');
  const [identity] = authority.identities;
  const start = cpuTime();
  expect(identity?.matches({ issuer: 'a', subject: `${'x'.repeat(40)}y` })).toBe(false);
  expect(identity?.matches({ issuer: 'a', subject: 'x'.repeat(40) })).toBe(true);
  expect(policy?.matches(`registry.example/${'a'.repeat(200)}`)).toBe(false);
  expect(cpuTime() - start).toBeLessThan(1_000);
});

describe('a policy is for each spelling of a registry:', () => {
  function matches(glob: string, repository: string): boolean | undefined {
    const [policy] = policies({ images: [{ glob }], authorities }) as ReturnType<
      typeof parseImagePolicies
    >;
    return policy?.matches(repository);
  }

  test.each([
    ['registry.corp/**', 'registry.corp/team/app'],
    ['registry.corp/**', 'Registry.corp/team/app'],
    ['registry.corp/**', 'registry.corp:443/team/app'],
    ['registry.corp/**', 'registry.corp:80/team/app'],
    ['Registry.Corp:443/**', 'registry.corp/team/app'],
    ['registry.corp./**', 'registry.corp/team/app'],
    ['registry.corp:*/**', 'Registry.corp/team/app'],
    ['registry.corp:05000/**', 'registry.corp:5000/team/app'],
    ['*.corp/**', 'REGISTRY.CORP:443/team/app'],
    ['*.Corp:443/**', 'registry.corp/team/app'],
    ['Registry**', 'registry.corp:5000/team/app'],
    ['10.0.0.5:5000/**', '0xa.0.0.5:5000/app'],
    ['[2001:db8::1]/**', '[2001:DB8::1]:443/app'],
    ['docker.io/library/*', 'registry-1.docker.io/library/nginx'],
    ['docker.io/library/*', 'registry.hub.docker.com/nginx'],
    ['index.docker.io/library/*', 'docker.io/library/nginx'],
  ])('%s, %s', (glob, repository) => {
    expect(matches(glob, repository)).toBe(true);
  });

  test.each([
    ['registry.corp/**', 'registry.corp:5000/team/app'],
    ['registry.corp:5000/**', 'registry.corp/team/app'],
    ['registry.corp/*', 'registry.corp/team/app'],
    ['registry.corp', 'registry.corp/team/app'],
    ['docker.io/library/*', 'docker.io/org/app'],
    ['*.docker.io/**', 'docker.io/library/nginx'],
    ['docker.io/**', 'docker.io.evil.example/library/nginx'],
  ])('but for no other: %s, %s', (glob, repository) => {
    expect(matches(glob, repository)).toBe(false);
  });
});
