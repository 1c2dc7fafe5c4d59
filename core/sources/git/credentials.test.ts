import { expect, test } from 'vitest';
import { TerminalError } from '../../errors.ts';
import { httpCredentials } from './credentials.ts';

test('without a Secret the user of the URL counts, decoded', () => {
  const url = new URL('https://me%40example.com:100%25safe@git.example.com/app');
  expect(httpCredentials(undefined, url).basic).toEqual({
    username: 'me@example.com',
    password: '100%safe',
  });
});

test.each(['me:100%safe', '100%safe'])('%s in a URL is refused with its field', (user) => {
  const url = new URL(`https://${user}@git.example.com/app`);
  expect(() => httpCredentials(undefined, url)).toThrow(TerminalError);
  expect(() => httpCredentials(undefined, url)).toThrow(
    'git.repository has a user or password with a "%" that is not percent-encoding',
  );
});

test('with a Secret the user of the URL does not count', () => {
  const url = new URL('https://100%safe@git.example.com/app');
  const values = new Map([
    ['username', 'me'],
    ['password', 'secret'],
  ]);
  const secret = { name: 'login', text: (key: string) => values.get(key) };
  expect(httpCredentials(secret, url).basic).toEqual({ username: 'me', password: 'secret' });
});
