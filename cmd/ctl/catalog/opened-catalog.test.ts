import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rukpakctl } from '../../../test/helpers/rukpakctl.ts';

let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'catalog-errors-'));
});

afterEach(() => rm(dir, { recursive: true }));

async function errorOf(args: readonly string[], input = ''): Promise<string> {
  const { code, stderr } = await rukpakctl(['catalog', ...args], { cwd: dir, input });
  expect(code).toBe(1);
  return stderr.replace(/^\S+ \S+ /, '').trimEnd();
}

const missing = `object '{"b":1}\n' is missing root schema field`;
const noText = 'expected value for key "name" to be a string, got %!t(float64=1): 1';

describe('an error about a blob', () => {
  test('names the file and the line of a catalog that becomes a template', async () => {
    const blobs = '{"schema":"a"}\n\n{"schema":"b","name":1}\n';
    await writeFile(join(dir, 'catalog.json'), blobs);
    expect(await errorOf(['template', 'catalog.json', '--of', 'basic'])).toBe(
      `catalog.json:3: ${noText}`,
    );
    expect(await errorOf(['template', '-', '--of', 'basic'], blobs)).toBe(
      `standard input:3: ${noText}`,
    );
  });

  test('names no line that nobody knows: of a template’s entry, of a package to serve', async () => {
    await writeFile(join(dir, 't.yaml'), 'schema: olm.template.basic\nentries: [{b: 1}]\n');
    expect(await errorOf(['template', 't.yaml'])).toBe(missing);
    await mkdir(join(dir, 'catalog'));
    const channel = { schema: 'olm.channel', name: 's', package: 'p', entries: 1 };
    await writeFile(join(dir, 'catalog/catalog.json'), JSON.stringify(channel));
    expect(await errorOf(['serve', 'catalog', '--address', '127.0.0.1:0'])).toMatch(
      /^build package index: process package "p": parse channel: json: cannot unmarshal number/,
    );
  });
});
