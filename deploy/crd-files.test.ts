import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { bundleCRD, bundleDeploymentCRD } from '../api/crd.ts';
import { crdFiles, crdFolder } from './crd-files.ts';

test('the checked-in CRDs are what the schemas say; else run `npm run generate`', () => {
  const checkedIn = new Map(
    readdirSync(crdFolder)
      .filter((name) => name.startsWith('core.rukpak.io_'))
      .map((name) => [name, readFileSync(new URL(name, crdFolder), 'utf8')]),
  );
  expect([...checkedIn.keys()].sort()).toEqual([...crdFiles().keys()].sort());
  for (const [name, text] of crdFiles()) expect(checkedIn.get(name)).toBe(text);
});

test('kubectl reads them as they are meant: its YAML takes a bare Off for false', () => {
  const read = [...crdFiles().values()].map((text) => parse(text, { version: '1.1' }) as object);
  expect(read).toEqual(JSON.parse(JSON.stringify([bundleCRD(), bundleDeploymentCRD()])));
});
