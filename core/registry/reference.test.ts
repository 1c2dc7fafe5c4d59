import { describe, expect, it } from 'vitest';
import { cpuTime } from '../../test/helpers/cpu-time.ts';
import { TerminalError } from '../errors.ts';
import {
  canonicalDomain,
  canonicalRepository,
  manifestReference,
  normalPattern,
  parseImageReference,
  registryHost,
  repositoryName,
  spellings,
} from './reference.ts';

const hex = 'a'.repeat(64);

describe('parseImageReference', () => {
  it.each([
    ['nginx', 'docker.io/library/nginx', 'latest'],
    ['nginx:1.27', 'docker.io/library/nginx', '1.27'],
    ['org/app', 'docker.io/org/app', 'latest'],
    ['docker.io/nginx', 'docker.io/library/nginx', 'latest'],
    ['index.docker.io/org/app:v1', 'docker.io/org/app', 'v1'],
    ['localhost/app', 'localhost/app', 'latest'],
    ['localhost:5000/app:v1', 'localhost:5000/app', 'v1'],
    ['127.0.0.1:5000/a/b/c:v1.0_x-y', '127.0.0.1:5000/a/b/c', 'v1.0_x-y'],
    ['[::1]:5000/app:v1', '[::1]:5000/app', 'v1'],
    ['[2001:db8::1]/app', '[2001:db8::1]/app', 'latest'],
    ['Registry/app', 'Registry/app', 'latest'],
    ['quay.io/a__b/c--d/e.f_g', 'quay.io/a__b/c--d/e.f_g', 'latest'],
    [`quay.io/x@sha256:${hex}`, 'quay.io/x', `sha256:${hex}`],
    [`quay.io/x:v1@sha256:${hex}`, 'quay.io/x', `sha256:${hex}`],
    [`quay.io/x@sha512:${hex}${hex}`, 'quay.io/x', `sha512:${hex}${hex}`],
  ])('reads %s', (text, repository, version) => {
    const reference = parseImageReference(text);
    expect(repositoryName(reference)).toBe(repository);
    expect(manifestReference(reference)).toBe(version);
  });

  it.each([
    ['', 'invalid reference format'],
    [' nginx', 'invalid reference format'],
    ['nginx\n', 'invalid reference format'],
    ['quay.io/', 'invalid reference format'],
    ['quay.io/a//b', 'invalid reference format'],
    ['quay.io/a/../b', 'invalid reference format'],
    ['quay.io/a?b', 'invalid reference format'],
    ['https://quay.io/a', 'invalid reference format: leave out "https://"'],
    ['oci://quay.io/a:1.0.0', 'invalid reference format: leave out "oci://"'],
    ['quay.io/a:1.0.0+b.7', 'invalid reference format: write the tag "1.0.0_b.7"'],
    ['quay.io/a:+', 'invalid reference format: write the tag "_"'],
    ['quay.io/a:-+', 'invalid reference format'],
    ['user:pass@quay.io/a', 'invalid checksum digest format'],
    ['-bad.io/a', 'invalid reference format'],
    ['quay.io:port/a', 'invalid reference format'],
    ['quay.io/a:', 'invalid reference format'],
    ['quay.io/a:-x', 'invalid reference format'],
    [`quay.io/a:${'x'.repeat(129)}`, 'invalid reference format'],
    ['quay.io/a/b.', 'invalid reference format'],
    ['x'.repeat(5000), 'invalid reference format'],
    ['Nginx', 'invalid reference format: repository name (library/Nginx) must be lowercase'],
    ['quay.io/Org/app', 'invalid reference format: repository name (Org/app) must be lowercase'],
    [`quay.io/${'x'.repeat(250)}`, 'repository name must not be more than 255 characters'],
    [hex, `invalid repository name (${hex}), cannot specify 64-byte hexadecimal strings`],
    ['quay.io/a@md5:abc', 'unsupported digest algorithm'],
    ['quay.io/a@sha256:abc', 'invalid checksum digest length'],
    [`quay.io/a@sha256:${hex.toUpperCase()}`, 'invalid checksum digest format'],
    ['quay.io/a@', 'invalid checksum digest format'],
  ])('refuses %j', (text, problem) => {
    expect(() => parseImageReference(text)).toThrow(
      new TerminalError(`error parsing image reference: ${problem}`),
    );
  });

  it.each(['quay.io:65536', '1.2.3.4.5', '256.1.1.1:5000', 'registry.0x', '[1:2]:5000'])(
    'refuses the registry %j, which no URL can have',
    (host) => {
      expect(() => parseImageReference(`${host}/a`)).toThrow(
        new TerminalError(
          `error parsing image reference: invalid reference format: ref names the registry "${host}", which is no valid address`,
        ),
      );
    },
  );

  it('takes no time over hostile names', () => {
    const started = cpuTime();
    for (const part of ['a-', 'a_', 'a.', '-', 'a--']) {
      expect(() => parseImageReference(`quay.io/${part.repeat(400)}`)).toThrow(TerminalError);
      expect(() => parseImageReference(`${part.repeat(400)}.:/x`)).toThrow(TerminalError);
    }
    expect(cpuTime() - started).toBeLessThan(2_000);
  });
});

it('knows where Docker Hub answers', () => {
  expect(registryHost('docker.io')).toBe('registry-1.docker.io');
  expect(registryHost('quay.io')).toBe('quay.io');
});

describe('one registry', () => {
  it.each([
    ['Registry.Corp', 'registry.corp'],
    ['registry.corp:443', 'registry.corp'],
    ['registry.corp:0443', 'registry.corp'],
    ['registry.corp.', 'registry.corp'],
    ['registry.corp.:443', 'registry.corp'],
    ['registry.corp:05000', 'registry.corp:5000'],
    ['registry.corp:80', 'registry.corp:80'],
    ['index.docker.io', 'docker.io'],
    ['Registry-1.Docker.io:443', 'docker.io'],
    ['registry.hub.docker.com', 'docker.io'],
    ['docker.io:5000', 'docker.io:5000'],
    ['10.5:5000', '10.0.0.5:5000'],
    ['0xa.0.0.5:5000', '10.0.0.5:5000'],
    ['[2001:DB8:0::1]:443', '[2001:db8::1]'],
    // No URL has it: it is compared as it is.
    ['registry.corp:99999', 'registry.corp:99999'],
    ['', ''],
  ])('%s is compared as %s', (domain, canonical) => {
    expect(canonicalDomain(domain)).toBe(canonical);
    expect(canonicalDomain(canonical)).toBe(canonical);
  });

  it('has its repositories under one name', () => {
    const named = (text: string) => canonicalRepository(parseImageReference(text));
    expect(named('Registry.corp:443/team/app:v1')).toBe('registry.corp/team/app');
    expect(named('registry-1.docker.io/nginx')).toBe('docker.io/library/nginx');
    expect(named('nginx')).toBe('docker.io/library/nginx');
  });

  it.each([
    ['Registry.corp./Team', 'registry.corp/Team'],
    ['Registry.corp:0443', 'registry.corp:443'],
    ['registry.corp:80/a', 'registry.corp:80/a'],
    ['index.docker.io/library', 'docker.io/library'],
    ['*.Corp:443/a', '*.corp:443/a'],
    ['**', '**'],
    ['', ''],
  ])('has a prefix or pattern %s that is compared as %s', (text, expected) => {
    expect(normalPattern(text)).toBe(expected);
  });

  it('may be written in several ways, with the ports of HTTPS and HTTP', () => {
    expect(spellings({ domain: 'Registry.corp', path: 'a/b' })).toEqual([
      'registry.corp/a/b',
      'registry.corp:443/a/b',
      'registry.corp:80/a/b',
      'Registry.corp/a/b',
    ]);
    const plain = spellings({ domain: 'registry.corp', path: 'a/b' });
    expect(new Set(spellings({ domain: 'registry.corp:80', path: 'a/b' }))).toEqual(new Set(plain));
    expect(spellings({ domain: 'registry.corp:5000', path: 'a/b' })).toEqual([
      'registry.corp:5000/a/b',
    ]);
    expect(spellings({ domain: 'registry-1.docker.io', path: 'nginx' })).toEqual([
      ...spellings({ domain: 'docker.io', path: 'library/nginx' }),
      'registry-1.docker.io/nginx',
    ]);
  });
});
