import { expect, test } from 'vitest';
import { parseCatalogPlace } from './index.ts';

test.each([
  ['shop', 'shop', 'shop'],
  ['./catalogs/shop/', 'shop', './catalogs/shop/'],
  ['mine=./catalogs/shop', 'mine', './catalogs/shop'],
  ['./a=b', 'a=b', undefined],
  ['quay.io/example/catalog:v1', 'catalog', 'quay.io/example/catalog:v1'],
  ['quay.io/example/catalog@sha256:aa', 'catalog', 'quay.io/example/catalog@sha256:aa'],
  ['oci-archive:out/shop.tar:v1', 'shop', 'oci-archive:out/shop.tar:v1'],
  ['', undefined, undefined],
  ['=shop', undefined, undefined],
  ['..=shop', undefined, undefined],
  ['/', undefined, undefined],
])('%j is a catalog named %j', (text, name, place) => {
  if (name === undefined || place === undefined) {
    expect(() => parseCatalogPlace(text)).toThrow('gives the catalog no name');
  } else {
    expect(parseCatalogPlace(text)).toEqual({ name, place });
  }
});
