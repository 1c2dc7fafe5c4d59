// @module-tag long
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeJson, writeYaml } from '../../catalog/blobs/index.ts';
import { loadDirectory, toConfig } from '../../catalog/load/index.ts';
import { errorMessage } from '../../core/errors.ts';
import { oddCatalogs } from '../helpers/odd-catalogs.ts';
import { opmBinary } from '../helpers/opm.ts';

const packages = join(import.meta.dirname, '../../../shared/catalogs/packages');
const run = promisify(execFile);
let opm = '';
let folder = '';

beforeAll(async () => {
  opm = await opmBinary();
  folder = await mkdtemp(join(tmpdir(), 'odd-catalog-'));
}, 900_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

type Format = 'json' | 'yaml';

async function byOpm(directory: string, format: Format): Promise<string> {
  const options = { maxBuffer: 512 * 1024 * 1024 };
  try {
    return (await run(opm, ['render', directory, '-o', format], options)).stdout;
  } catch (error) {
    const { stderr } = error as { stderr: string };
    return stderr.slice(stderr.indexOf(`"${directory}": `) + directory.length + 4).trimEnd();
  }
}

async function byUs(directory: string, format: Format): Promise<string> {
  try {
    const config = await toConfig(loadDirectory(directory));
    return [...(format === 'json' ? writeJson(config) : writeYaml(config))].join('');
  } catch (error) {
    return errorMessage(error).trimEnd();
  }
}

describe.each<Format>(['json', 'yaml'])(
  'a catalog that is read and written as %s is as by opm',
  (format) => {
    test('for real packages', { timeout: 120_000 }, async () => {
      for (const name of await readdir(packages)) {
        const directory = join(packages, name);
        expect(await byUs(directory, format), name).toBe(await byOpm(directory, format));
      }
    });

    test('for 320 odd ones', { timeout: 600_000 }, async () => {
      for (const { seed, content } of oddCatalogs(320)) {
        await writeFile(join(folder, 'catalog'), content);
        expect(await byUs(folder, format), `seed ${seed}: ${content}`).toBe(
          await byOpm(folder, format),
        );
      }
    });
  },
);
