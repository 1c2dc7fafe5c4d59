import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { deploymentConfig } from './flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'rukpak-config-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('reads spec.config, and says of which flag the file is', async () => {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, 'watchNamespace: shop\nenv: [{name: A, value: b}]\n');
  expect(await deploymentConfig({})).toBeUndefined();
  expect(await deploymentConfig({ config: file })).toEqual({
    watchNamespace: 'shop',
    env: [{ name: 'A', value: 'b' }],
  });
  writeFileSync(file, '- a\n');
  await expect(deploymentConfig({ config: file })).rejects.toThrow(
    `--config ${file}: it is not a map: write the fields of spec.config, without "config:"`,
  );
  await expect(deploymentConfig({ config: join(folder, 'none') })).rejects.toThrow('--config');
});
