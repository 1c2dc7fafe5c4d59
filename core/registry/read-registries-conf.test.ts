import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRegistriesConf } from './read-registries-conf.ts';

let directory: string;
let file: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rukpak-registries-'));
  file = join(directory, 'registries.conf');
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

function registry(prefix: string, mirror: string): string {
  return `[[registry]]\nlocation = "${prefix}"\n[[registry.mirror]]\nlocation = "${mirror}"\n`;
}

async function writeDropIn(name: string, text: string): Promise<void> {
  await mkdir(`${file}.d`, { recursive: true });
  await writeFile(join(`${file}.d`, name), text);
}

test('later files take the place of a registry, and add others', async () => {
  await writeFile(
    file,
    `short-name-mode = ""\n${registry('a.b', 'one.x')}${registry('c.d', 'x.y')}`,
  );
  await writeDropIn('20.conf', registry('a.b', 'three.x'));
  await writeDropIn('10.conf', registry('a.b', 'two.x') + registry('e.f', 'x.y'));
  await writeDropIn('30.conf.bak', 'not read');
  const { registries, ignored } = readRegistriesConf(file);
  expect(registries.map(({ prefix, mirrors }) => [prefix, mirrors[0]?.location])).toEqual([
    ['a.b', 'three.x'],
    ['c.d', 'x.y'],
    ['e.f', 'x.y'],
  ]);
  expect(ignored).toEqual([
    `${file}: short-name-mode has no effect: names without a registry are those of docker.io`,
  ]);
});

test('what cannot be read is named by its file', async () => {
  const begin = 'cannot read the registries configuration ';
  expect(() => readRegistriesConf(file)).toThrow(`${begin}${file}: ENOENT`);
  await writeFile(file, '');
  await writeDropIn('10.conf', 'x');
  expect(() => readRegistriesConf(file)).toThrow(`${begin}${file}.d/10.conf: line 1, column 1: `);
});
