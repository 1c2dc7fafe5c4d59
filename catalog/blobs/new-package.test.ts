import { expect, test } from 'vitest';
import { newPackage } from './new-package.ts';

function withIcon(icon: string | Uint8Array) {
  return newPackage({ name: 'a', defaultChannel: '', description: '', icon: Buffer.from(icon) });
}

const comment = `<!-- ${'-'.repeat(100_000)} -->`;

test.each([
  ['<svg></svg>', 'image/svg+xml'],
  [`<?xml version="1.0"?>${comment}<svg a="b">${comment}</svg>\n`, 'image/svg+xml'],
  [Buffer.from('89504e470d0a1a0a', 'hex'), 'image/png'],
  [Buffer.from('ffd8ffe0', 'hex'), 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['RIFF1234WEBP', 'image/webp'],
])('the icon %j is %s', (icon, mediatype) => {
  expect(withIcon(icon).icon).toEqual({
    base64data: Buffer.from(icon).toString('base64'),
    mediatype,
  });
});

test.each([
  ['text', 'detected invalid type "": not an image'],
  ['<svg>', 'detected invalid type "": not an image'],
  ['%PDF-1.7', 'detected invalid type "application/pdf": not an image'],
  ['', 'detect icon mediatype: Empty buffer'],
])('%j is refused', (icon, message) => {
  expect(() => withIcon(icon)).toThrow(message);
});
