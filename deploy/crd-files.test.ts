import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { crdFiles, definitionsByFolder } from './crd-files.ts';

const folders = [...definitionsByFolder().keys()];

test('the checked-in CRDs are what the schemas say; else run `npm run generate`', () => {
  const checkedIn = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, import.meta.url)).map((name) => `${folder}/${name}`),
  );
  expect(checkedIn.sort()).toEqual([...crdFiles().keys()].sort());
  for (const [path, text] of crdFiles()) {
    expect(readFileSync(new URL(path, import.meta.url), 'utf8')).toBe(text);
  }
});

test('kubectl reads them as they are meant: its YAML takes a bare Off for false', () => {
  const read = [...crdFiles()]
    .filter(([path]) => !path.endsWith('/kustomization.yaml'))
    .map(([, text]) => parse(text, { version: '1.1' }) as object);
  expect(read).toEqual(JSON.parse(JSON.stringify([...definitionsByFolder().values()].flat())));
});

test('an installation without operators applies none of their CRDs', () => {
  const names = (definitionsByFolder().get('crds') ?? []).map(({ metadata }) => metadata.name);
  expect(names).toEqual(['bundles.core.rukpak.io', 'bundledeployments.core.rukpak.io']);
});
