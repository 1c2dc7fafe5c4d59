import { expect, test } from 'vitest';
import { catalogDockerfile } from './catalog-dockerfile.ts';

const options = { baseImage: 'base:1', builderImage: 'builder:1', folder: 'catalog' };

test('the catalog is added to the image that fills the cache, and copied to the one that serves', () => {
  const text = catalogDockerfile({ ...options, labels: new Map() });
  expect(text).toContain('FROM builder:1 as builder\n');
  expect(text).toContain('ADD catalog /configs\n');
  expect(text).toMatch(/FROM base:1\n[^]*ENTRYPOINT \["\/bin\/opm"\]/);
  expect(text).toMatch(/LABEL operators\.operatorframework\.io\.index\.configs\.v1=\/configs\n$/);
});

test('an image without programs says how OLM serves it', () => {
  const text = catalogDockerfile({ ...options, baseImage: 'scratch', labels: new Map() });
  expect(text).not.toContain('ENTRYPOINT');
  expect(text).toContain('#       catalogDir: /configs\n');
});

test('labels are in the order of their names', () => {
  const text = catalogDockerfile({
    ...options,
    labels: new Map([
      ['b', '2'],
      ['a', '1'],
    ]),
  });
  expect(text).toMatch(/\n# Set other custom labels\nLABEL "a"="1"\nLABEL "b"="2"\n$/);
});
