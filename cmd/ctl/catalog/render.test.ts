import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rukpakctl } from '../../../test/helpers/rukpakctl.ts';

const bundle = join(import.meta.dirname, '../../../deploy/samples/howto/bundle');

test('a file name of a bundle does not reach the terminal as an escape sequence', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catalog-render-'));
  try {
    await cp(bundle, dir, { recursive: true });
    await writeFile(join(dir, 'manifests/\u001b[2J.yaml'), 'a: [');
    const { code, stderr } = await rukpakctl(['catalog', 'render', dir]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: failed to decode: .* \(\\x1b\[2J\.yaml\)\n$/);
  } finally {
    await rm(dir, { recursive: true });
  }
});
