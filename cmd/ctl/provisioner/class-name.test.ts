import { expect, test } from 'vitest';
import { className } from './class-name.ts';

test.each(['acme', 'acme-io-site', 'a1', 'a'.repeat(50)])(
  '%s may be the name of a class',
  (name) => {
    expect(className(name)).toBe(name);
  },
);

test.each([
  ['', 'It must have lower-case letters'],
  ['Acme', 'It must have lower-case letters'],
  ['acme.io', 'It must have lower-case letters'],
  ['1acme', 'It must have lower-case letters'],
  ['acme-', 'It must have lower-case letters'],
  ['acme\n', 'It must have lower-case letters'],
  ['../acme', 'It must have lower-case letters'],
  ['a'.repeat(51), 'It must not be longer than 50 characters.'],
  ['core-rukpak-io-plain', 'Names that begin with "core-rukpak-io" are of built-in classes.'],
  ['true', 'YAML takes that word for something else than a name.'],
])('%j may not', (name, message) => {
  expect(() => className(name)).toThrow(message);
});
