import { expect, it } from 'vitest';
import { parseListenAddress } from './listen-address.ts';

it.each([
  [':8443', { port: 8443 }],
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['localhost:80', { host: 'localhost', port: 80 }],
  ['[::1]:443', { host: '::1', port: 443 }],
])('reads %s', (address, expected) => {
  expect(parseListenAddress(address)).toEqual(expected);
});

it.each(['8443', '', 'a:b', ':70000', '::1:80', 'http://x:80'])('refuses "%s"', (address) => {
  expect(() => parseListenAddress(address)).toThrow('is no address to listen on');
});
