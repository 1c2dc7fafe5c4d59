import { expect, test } from 'vitest';
import { parseIssuedCertificate } from './webhook-flags.ts';

test('names a Secret and its hosts; repeated flags add up', () => {
  const one = parseIssuedCertificate('core-cert=core.rukpak-system.svc', []);
  expect(parseIssuedCertificate('other=localhost,127.0.0.1,', one)).toEqual([
    { secretName: 'core-cert', hosts: ['core.rukpak-system.svc'] },
    { secretName: 'other', hosts: ['localhost', '127.0.0.1'] },
  ]);
});

test.each(['', 'core-cert', 'core-cert=', 'core-cert=,', '=localhost', 'a=b=c', 'a=b,c=d'])(
  '"%s" is refused',
  (text) => {
    expect(() => parseIssuedCertificate(text, [])).toThrow('Give <secret>=<host>[,<host>…].');
  },
);

test.each(['bücher.example', '*.example.com', 'a b', 'https://a'])(
  'a host that no client would find in a certificate is refused: %s',
  (host) => {
    const parse = () => parseIssuedCertificate(`core-cert=localhost,${host}`, []);
    expect(parse).toThrow(`"${host}" must be an IP address, or a DNS name in ASCII`);
  },
);
