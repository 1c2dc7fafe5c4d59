import { describe, expect, it } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { parseImageReference } from '../reference.ts';
import { matchesHost, parseDockerConfig } from './keychain.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function found(auths: object, image: string): string[] {
  return parseDockerConfig(JSON.stringify({ auths }), 'config.json')
    .credentialsFor(parseImageReference(image))
    .map(({ username, password }) => `${username}:${password}`);
}

describe('credentials for an image', () => {
  const entry = { auth: base64('u:p') };

  it.each([
    ['quay.io', 'quay.io/a/b'],
    ['https://quay.io', 'quay.io/a/b'],
    ['https://quay.io/v2/', 'quay.io/a/b'],
    ['quay.io/a', 'quay.io/a/b'],
    ['quay.io/a/b', 'quay.io/a/b'],
    ['*.io', 'quay.io/a/b'],
    ['QUAY.io', 'quay.io/a/b'],
    ['127.0.0.1:5000', '127.0.0.1:5000/x'],
    ['https://index.docker.io/v1/', 'nginx'],
    ['docker.io', 'nginx'],
    ['index.docker.io', 'docker.io/library/nginx'],
    ['registry-1.docker.io', 'org/app'],
    ['docker.io', 'registry.hub.docker.com/org/app'],
    ['quay.io', 'Quay.io:443/a/b'],
    ['QUAY.io:443', 'quay.io/a/b'],
    ['*.io:443', 'quay.io/a/b'],
    ['*.docker.io', 'registry-1.docker.io/org/app'],
  ])('%s is for %s', (location, image) => {
    expect(found({ [location]: entry }, image)).toEqual(['u:p']);
  });

  it.each([
    ['quay.io', 'evil.io/a'],
    ['quay.io', 'quay.io.evil.io/a'],
    ['quay.io', 'quay.io:8443/a'],
    ['quay.io', 'quay.io:80/a'],
    ['*.docker.io', 'org/app'],
    ['quay.io/b', 'quay.io/a/b'],
    ['127.0.0.1', '127.0.0.1:5000/x'],
    ['docker.io', 'quay.io/docker.io/x'],
    ['', 'quay.io/a'],
    ['/', 'quay.io/a'],
    ['://', 'quay.io/a'],
  ])('%s is not for %s', (location, image) => {
    expect(found({ [location]: entry }, image)).toEqual([]);
  });

  it('come with the most specific first', () => {
    const auths = {
      'quay.io': { auth: base64('host:x') },
      'quay.io/a/b': { auth: base64('repository:x') },
      'quay.io/a': { auth: base64('organization:x') },
    };
    expect(found(auths, 'quay.io/a/b')).toEqual(['repository:x', 'organization:x', 'host:x']);
  });

  it.each([
    [{ auth: base64('u:p:with:colons') }, ['u:p:with:colons']],
    [{ auth: base64('u:p\0\0') }, ['u:p']],
    [{ auth: base64('u:\0\0p\0p\0') }, ['u:p\0p']],
    [{ username: 'u', password: 'p' }, ['u:p']],
    [{ auth: base64('u:p'), username: 'x', password: 'y' }, ['u:p']],
    [{ auth: 'not base64 of anything', username: 'x', password: 'y' }, ['x:y']],
    [{ email: 'nobody@example.com' }, []],
    [{}, []],
  ])('are read from %j', (auth, expected) => {
    expect(found({ 'quay.io': auth }, 'quay.io/a')).toEqual(expected);
  });

  it('may be an identity token', () => {
    const config = JSON.stringify({ auths: { 'quay.io': { auth: '', identitytoken: 'secret' } } });
    const reference = parseImageReference('quay.io/a');
    expect(parseDockerConfig(config, 'config.json').credentialsFor(reference)).toEqual([
      { username: '', password: '', identityToken: 'secret' },
    ]);
  });
});

describe('parseDockerConfig', () => {
  it('reads the older format, and ignores helpers of the newer', () => {
    const auths = { 'quay.io': { auth: base64('u:p') } };
    const reference = parseImageReference('quay.io/a');
    const older = parseDockerConfig(JSON.stringify(auths), 'dockercfg');
    expect(older.credentialsFor(reference)).toHaveLength(1);
    const helpers = { credsStore: 'x', credHelpers: { 'quay.io': 'x' } };
    const newer = parseDockerConfig(JSON.stringify(helpers), 'config.json');
    expect(newer.credentialsFor(reference)).toEqual([]);
  });

  it.each([
    '',
    'secret-text',
    '[]',
    '{"auths":"secret-text"}',
    '{"auths":{"quay.io":"secret-text"}}',
  ])('refuses %j without repeating it', (text) => {
    let message = '';
    try {
      parseDockerConfig(text, 'config.json');
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/it is not (?:valid JSON|a Docker config\.json)/);
    expect(message).not.toContain('secret-text');
  });

  // With time that grows with the square of the length, this takes hours.
  it('takes no longer than reading for a password of a million NULs', () => {
    const password = `p${'\0'.repeat(1_000_000)}p`;
    expect(found({ 'quay.io': { auth: base64(`u:${password}`) } }, 'quay.io/a')).toEqual([
      `u:${password}`,
    ]);
  });

  it('is not misled by names of the language', () => {
    const config = '{"auths":{"__proto__":{"auth":"dTpw"},"constructor":{"auth":"dTpw"}}}';
    const keychain = parseDockerConfig(config, 'config.json');
    expect(keychain.credentialsFor(parseImageReference('quay.io/a'))).toEqual([]);
  });
});

it.each([
  ['quay.io', 'quay.io', true],
  ['quay.io', 'quay.io:443', false],
  ['quay.io:443', 'quay.io:443', true],
  ['*.io', 'quay.io', true],
  ['*.quay.io', 'quay.io', false],
  ['*.quay.io', 'a.quay.io', true],
  ['*.quay.io', 'a.b.quay.io', false],
  ['*.*.quay.io', 'a.b.quay.io', true],
  ['*.dkr.ecr.*.amazonaws.com', '1.dkr.ecr.eu-west-1.amazonaws.com', true],
  ['prefix*suffix.io', 'prefix-x-suffix.io', true],
  ['prefix*suffix.io', 'prefix.io', false],
  ['a*b*c.io', 'a-b-b-c.io', true],
  ['q?ay.io', 'quay.io', true],
  ['q?ay.io', 'qay.io', false],
  ['*', 'quay.io', false],
  ['*', 'localhost', true],
  ['[::1]:5000', '[::1]:5000', true],
])('%s and %s: %s', (pattern, host, expected) => {
  expect(matchesHost(pattern, host)).toBe(expected);
});

it('takes no time over hostile patterns', () => {
  const started = cpuTime();
  expect(matchesHost(`${'a*'.repeat(100)}b`, 'a'.repeat(250))).toBe(false);
  expect(cpuTime() - started).toBeLessThan(2_000);
});
