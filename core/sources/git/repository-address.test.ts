import { describe, expect, test } from 'vitest';
import { TerminalError } from '../../errors.ts';
import { repositoryAddress, shownRepository } from './repository-address.ts';

const ssh = { protocol: 'ssh', user: 'git', host: 'example.com', port: 22 } as const;

test.each([
  ['ssh://example.com/team/app.git', { ...ssh, path: '/team/app.git' }],
  ['SSH://me@example.com:2222/app', { ...ssh, user: 'me', port: 2222, path: '/app' }],
  ['ssh://git@[2001:db8::1]:2222/app', { ...ssh, host: '2001:db8::1', port: 2222, path: '/app' }],
  ['ssh://example.com/~me/app', { ...ssh, path: '~me/app' }],
  ['ssh://example.com/with%20space', { ...ssh, path: '/with space' }],
  ['git@example.com:team/app.git', { ...ssh, path: 'team/app.git' }],
  ['example.com:/srv/app', { ...ssh, path: '/srv/app' }],
  ['me@[2001:db8::1]:app', { ...ssh, user: 'me', host: '2001:db8::1', path: 'app' }],
  ['deploy@tenant@example.com:app', undefined],
  ['ssh://org-1@example.com/v3/app', { ...ssh, user: 'org-1', path: '/v3/app' }],
])('%s', (repository, address) => {
  if (address === undefined) expect(() => repositoryAddress(repository)).toThrow(TerminalError);
  else expect(repositoryAddress(repository)).toEqual(address);
});

test.each(['https://example.com/a.git', 'http://example.com:8080/a'])('%s', (repository) => {
  expect(repositoryAddress(repository)).toEqual({ protocol: 'http', url: new URL(repository) });
});

describe('refused', () => {
  test.each([
    'file:///etc',
    'git://example.com/a',
    'git+ssh://example.com/a',
    'ext::sh -c id',
    'fd::17',
    '/srv/app',
    './app:x',
    '../app',
    'app',
    '--upload-pack=x',
    'C:\\app',
    'host:',
  ])('%s has a form that nobody fetches from', (repository) => {
    expect(() => repositoryAddress(repository)).toThrow(
      new TerminalError(
        `git repository ${JSON.stringify(repository)} is not supported: its URL must begin with https://, http:// or ssh://, or have the form user@host:path`,
      ),
    );
  });

  test.each([
    ['ssh://-oProxyCommand=id/x', 'is not a valid host name'],
    ['-oProxyCommand=id:x', 'is not a valid host name'],
    ['ssh://a b/x', 'it is not a valid URL'],
    ['git@a b:x', '"a b" is not a valid host name'],
    ['ssh://-l@example.com/x', '"-l" is not a valid user name'],
    ['-l@example.com:x', '"-l" is not a valid user name'],
    ['ssh://a%0ab@example.com/x', 'is not a valid user name'],
    ['git@example.com:-x', 'its path begins with "-" or has control characters'],
    ['ssh://example.com/a%0ab', 'its path begins with "-" or has control characters'],
    ['ssh://example.com/%zz', 'its percent-encoding is not valid'],
    ['ssh://example.com', 'it has no path'],
    ['ssh://example.com/', 'it has no path'],
    ['ssh://example.com:0/x', '0 is not a valid port'],
    ['ssh://example.com:99999/x', 'it is not a valid URL'],
    ['https://', 'it is not a valid URL'],
    ['ssh://example.com/a\nb', 'it has control characters or line breaks'],
    ['https://example.com/a\tb', 'it has control characters or line breaks'],
    ['git@example.com:a\u0000b', 'it has control characters or line breaks'],
  ])('%j', (repository, reason) => {
    expect(() => repositoryAddress(repository)).toThrow(TerminalError);
    expect(() => repositoryAddress(repository)).toThrow(reason);
  });

  test('a host that is longer than any URL can have', () => {
    const repository = `https://A${'a.'.repeat(8_192)}com/`;
    expect(() => repositoryAddress(repository)).toThrow(TerminalError);
    expect(() => repositoryAddress(repository)).toThrow('it is not a valid URL');
  });

  test('an absent one', () => {
    expect(() => repositoryAddress('')).toThrow(
      new TerminalError('missing git source information: repository must be provided'),
    );
  });

  test.each(['ssh://me:hunter2@example.com/x', 'ftp://me:p@ss:hunter2@example.com/x'])(
    '%s, without showing the password',
    (repository) => {
      expect(() => repositoryAddress(repository)).toThrow(
        /^git repository "(ssh|ftp):\/\/me:\*\*\*@example.com\/x" is not supported: (?!.*hunter2)/,
      );
    },
  );
});

test.each([
  ['https://me:secret@example.com/a@b', 'https://me:***@example.com/a@b'],
  [
    'https://me@example.com:secret@git.example.com/a',
    'https://me@example.com:***@git.example.com/a',
  ],
  ['https://me:se:cr@et@example.com/a', 'https://me:***@example.com/a'],
  ['https://me:sec/ret@example.com/a@b', 'https://me:***@b'],
  ['ssh://me:sec#r@et@example.com/a', 'ssh://me:***@example.com/a'],
  ['//me:secret@example.com/a', '//me:***@example.com/a'],
  ['https://:secret@example.com/a', 'https://:***@example.com/a'],
  ['https://me@example.com:8443/a:b@c', 'https://me@example.com:8443/a:b@c'],
  ['git@example.com:team/app.git', 'git@example.com:team/app.git'],
])('%s is shown as %s', (repository, shown) => {
  expect(shownRepository(repository)).toBe(shown);
});
