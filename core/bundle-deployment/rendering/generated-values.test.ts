import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { redraws } from './generated-values.ts';

function aSecret(texts: Readonly<Record<string, string>>): KubernetesObject {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
  const fields = Object.fromEntries(Object.keys(texts).map((key) => [`f:${key}`, {}]));
  const entry = { manager: 'rukpak-core', operation: 'Apply', fieldsV1: { 'f:data': fields } };
  const metadata = { name: 'login', managedFields: [entry] };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}

const pem = (type: string, body: string): string =>
  `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;
const bcrypt = (text: string): string => `$2a$10$${text.repeat(53)}`;

test.each<
  [string, boolean, Record<string, string>, Record<string, string>, Record<string, string>]
>([
  ['a password', true, { p: 'abc' }, { p: 'def' }, { p: 'ghi' }],
  ['a configured text', false, { p: 'abc' }, { p: 'def' }, { p: 'def' }],
  ['a new key', false, { p: 'abc' }, { p: 'abc', q: 'def' }, { p: 'ghi', q: 'jkl' }],
  ['a host beside a password', false, { u: 'abc@a' }, { u: 'abc@b' }, { u: 'ghi@b' }],
  ['a password beside a host', true, { u: 'abc@a' }, { u: 'def@a' }, { u: 'ghi@a' }],
  [
    'a certificate with its key',
    false,
    { crt: pem('CERTIFICATE', 'abc'), key: pem('RSA PRIVATE KEY', 'abc') },
    { crt: pem('CERTIFICATE', 'def'), key: pem('RSA PRIVATE KEY', 'def') },
    { crt: pem('CERTIFICATE', 'ghi'), key: pem('RSA PRIVATE KEY', 'ghi') },
  ],
  [
    'a key without a certificate',
    true,
    { key: pem('RSA PRIVATE KEY', 'abc') },
    { key: pem('RSA PRIVATE KEY', 'def') },
    { key: pem('RSA PRIVATE KEY', 'ghi') },
  ],
  [
    'the hash of a configured password',
    false,
    { h: `me:${bcrypt('a')}` },
    { h: `me:${bcrypt('b')}` },
    { h: `me:${bcrypt('c')}` },
  ],
])('%s: %s', (...[, expected, live, wanted, other]) => {
  const versions = { live: aSecret(live), wanted: aSecret(wanted), other: aSecret(other) };
  expect(redraws(versions)).toBe(expected);
});
