import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import { realBundlesArePresent } from '../../test/helpers/real-bundles.ts';
import { smallBundles } from '../../test/helpers/small-bundles.ts';
import { parseManifests, splitDocuments } from './parse-manifests.ts';
import { toYaml } from './write-yaml.ts';
import { composeDocument } from './yaml/composed-document.ts';
import { NodeReader } from './yaml/node-reader.ts';
import { readBlockStyle } from './yaml/reader/block-reader.ts';
import { decodeYamlText } from './yaml/yaml-text.ts';

// A collection of operator bundles may lie beside the project; it is no part of it.
const root = join(import.meta.dirname, '../../../shared/bundles');
// The yaml package takes its time.
const longestCompared = 50_000;

type Manifest = readonly [name: string, content: Uint8Array];

const isManifest = (path: string): boolean => /(^|\/)manifests\/[^/]+\.(ya?ml|json)$/.test(path);

async function* manifestsOfRealBundles(): AsyncGenerator<Manifest> {
  const names = await readdir(root, { recursive: true });
  for (const name of names.filter(isManifest)) {
    yield [name, await readFile(join(root, name))];
  }
}

async function* manifestsOfSmallBundles(): AsyncGenerator<Manifest> {
  for (const { name, content } of smallBundles) {
    const { files } = content();
    yield* [...files]
      .filter(([path]) => isManifest(path))
      .map(([path, text]) => [`${name}/${path}`, text] as const);
  }
}

function readings(manifests: () => AsyncIterable<Manifest>): void {
  it('can all be read, and read back once they are written', async () => {
    let files = 0;
    for await (const [name, content] of manifests()) {
      const objects = parseManifests(name, content);
      expect(objects.length, name).toBeGreaterThan(0);
      const again = parseManifests(name, Buffer.from(toYaml(objects)));
      expect(stringifyJson(again) === stringifyJson(objects), name).toBe(true);
      files += 1;
    }
    expect(files).toBeGreaterThan(0);
  });

  it('mean the same to the block reader and to the yaml package', async () => {
    let read = 0;
    let left = 0;
    for await (const [name, content] of manifests()) {
      for (const { text } of splitDocuments(decodeYamlText(content))) {
        if (text.length > longestCompared) continue;
        const found = readBlockStyle(text);
        if (found === undefined) left += 1;
        else read += 1;
        const value = new NodeReader().read(composeDocument(text, 1)?.contents);
        const same = stringifyJson(found?.value ?? value) === stringifyJson(value);
        expect(same, name).toBe(true);
      }
    }
    expect(left / (read + left)).toBeLessThan(0.05);
  });
}

describe('manifests of small bundles', () => {
  readings(manifestsOfSmallBundles);
});

const many = { tags: ['long'], timeout: 300_000 };

describe.skipIf(!realBundlesArePresent())('manifests of real bundles', many, () => {
  readings(manifestsOfRealBundles);
});
