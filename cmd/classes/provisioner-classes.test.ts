// @module-tag process
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { openProvisioners } from './provisioner-classes.ts';

// Its processes have a low priority, and the machine may be busy.
vi.setConfig({ testTimeout: 300_000 });

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'provisioner-classes-'));
  for (const name of ['acme', 'other', 'core-rukpak-io-plain']) {
    // Without the SDK, whose loading would take most of the time.
    const text = `
const className: string = '${name}';
export default { className, contractVersion: 1, bundle: async <T>(files: T): Promise<T> => files };`;
    await writeFile(join(folder, `${name}.ts`), text);
  }
  await writeFile(join(folder, 'broken.mjs'), 'throw new Error("first line\\nsecond line");');
  await writeFile(join(folder, 'wrong.ts'), 'const a: number = 1;\nexport default {;\n');
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function opened(...files: readonly string[]): Promise<readonly string[]> {
  const flags = { provisioner: files.map((file) => join(folder, file)), provisionerMemory: 128 };
  const classes = await openProvisioners(flags, ['core-rukpak-io-plain'], {
    memory: ampleMemory(),
    logger: silentLogger,
  });
  await classes.close();
  return classes.provisioners.map(({ className }) => className);
}

test.concurrent('each flag serves its class', async () => {
  expect(await opened('acme.ts', 'other.ts')).toEqual(['acme', 'other']);
  expect(await opened()).toEqual([]);
});

test.concurrent('a class that is served already is refused in a line that names the flag', async () => {
  await expect(opened('core-rukpak-io-plain.ts')).rejects.toThrow(
    `--provisioner ${folder}/core-rukpak-io-plain.ts: class "core-rukpak-io-plain" is served by this program or --provisioner-url already: rename one`,
  );
  await expect(opened('acme.ts', 'other.ts', 'acme.ts')).rejects.toThrow(
    `--provisioner ${folder}/acme.ts: class "acme" is served by --provisioner ${folder}/acme.ts already: rename one`,
  );
});

test.concurrent('what cannot be loaded is refused in a line that names the flag', async () => {
  const error = await opened('acme.ts', 'broken.mjs').catch((error: unknown) => error);
  expect(error).toMatchObject({
    message: `--provisioner ${folder}/broken.mjs: cannot load file://${folder}/broken.mjs: first line second line`,
  });
});

test.concurrent('where TypeScript is wrong, the line is named', async () => {
  await expect(opened('wrong.ts')).rejects.toThrow(
    new RegExp(`wrong.ts: Unexpected token .* \\(line 2 of ${folder}/wrong.ts\\)$`),
  );
});
