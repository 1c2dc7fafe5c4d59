import { describe, expect, test } from 'vitest';
import { createProxyChooser } from './proxy.ts';

const proxy = 'http://proxy.example:3128';

function isProxied(address: string, noProxy: string): boolean {
  const choose = createProxyChooser({ httpProxy: proxy, httpsProxy: proxy, noProxy });
  return choose(new URL(address)) !== undefined;
}

describe('the proxy for an address', () => {
  test('is that of its scheme alone', () => {
    const choose = createProxyChooser({ httpProxy: 'one:1', httpsProxy: 'https://u:p@two:2' });
    expect(choose(new URL('http://a.example'))?.href).toBe('http://one:1/');
    expect(choose(new URL('https://a.example'))?.href).toBe('https://u:p@two:2/');
    expect(createProxyChooser({ httpProxy: proxy })(new URL('https://a.example'))).toBeUndefined();
    expect(createProxyChooser()(new URL('https://a.example'))).toBeUndefined();
    expect(createProxyChooser({ httpProxy: ' ' })(new URL('http://a.example'))).toBeUndefined();
  });

  test.each([
    ['HTTP_PROXY', { httpProxy: 'http://' }],
    ['HTTPS_PROXY', { httpsProxy: 'http://us er:secret@pro xy' }],
    ['HTTPS_PROXY', { httpsProxy: 'http://user:50%@proxy:3128' }],
  ])('%s must be an address', (variable, config) => {
    expect(() => createProxyChooser(config)).toThrow(
      new Error(`${variable} is not a proxy's address, such as http://proxy.example:3128`),
    );
  });

  test('must be one of HTTP', () => {
    expect(() => createProxyChooser({ httpProxy: 'socks5://u:secret@proxy:1080' })).toThrow(
      new Error(
        'HTTP_PROXY names a proxy of the kind socks5://, but only http:// and https:// are supported',
      ),
    );
  });
});

describe('no proxy', () => {
  test.each([['localhost'], ['127.0.0.1:5000'], ['127.9.9.9'], ['[::1]:5000']])(
    'is used for %s, this machine',
    (host) => {
      expect(isProxied(`https://${host}/v2/`, '')).toBe(false);
    },
  );

  test.each([
    ['a.example', '*', false],
    ['a.example', 'b.example, *', false],
    ['example.com', 'example.com', false],
    ['EXAMPLE.com', 'Example.COM', false],
    ['a.example.com', 'example.com', false],
    ['anexample.com', 'example.com', true],
    ['example.com', '.example.com', true],
    ['a.b.example.com', '.example.com', false],
    ['example.com', '*.example.com', true],
    ['a.example.com', '*.example.com', false],
    ['example.com', 'example.com:443', false],
    ['example.com:8443', 'example.com:443', true],
    ['example.com:8443', 'example.com:8443', false],
    ['10.1.2.3', '10.1.2.3', false],
    ['10.1.2.3:5000', '10.1.2.3:5001', true],
    ['10.1.2.3:5000', '10.1.2.3:5000', false],
    ['10.1.2.3', '10.1.0.0/16', false],
    ['10.2.2.3', '10.1.0.0/16', true],
    ['10.1.2.3', '10.1.0.0/99', true],
    ['ten.example', '10.1.0.0/16', true],
    ['[fd00::5]', 'fd00::/8', false],
    ['[fd00::5]', 'fd00::5', false],
    ['[fd00::5]:5000', '[fd00::5]:5000', false],
    ['[fd00::5]:5000', '[fd00::5]:5001', true],
    ['[fd00::6]', 'fd00::5', true],
    ['a.example', ' , ,:80,', true],
  ])('https://%s with NO_PROXY=%s: proxied is %s', (host, noProxy, expected) => {
    expect(isProxied(`https://${host}/v2/`, noProxy)).toBe(expected);
  });

  test('plain HTTP has a port too', () => {
    expect(isProxied('http://a.example', 'a.example:80')).toBe(false);
    expect(isProxied('http://a.example', 'a.example:443')).toBe(true);
  });
});
