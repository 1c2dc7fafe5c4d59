import { expect, test } from 'vitest';
import { proxyFromEnvironment } from './index.ts';

test('variables are read in upper case, else in lower case', () => {
  expect(proxyFromEnvironment({ HTTP_PROXY: 'a:1', http_proxy: 'b:1', no_proxy: 'c' })).toEqual({
    httpProxy: 'a:1',
    noProxy: 'c',
  });
  expect(proxyFromEnvironment({ HTTPS_PROXY: '', https_proxy: 'b:1' })).toEqual({
    httpsProxy: 'b:1',
  });
  expect(proxyFromEnvironment({})).toEqual({});
});

test('what cannot be used is refused at once', () => {
  expect(() => proxyFromEnvironment({ https_proxy: 'ftp://proxy' })).toThrow('HTTPS_PROXY names');
});
