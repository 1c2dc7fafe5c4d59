import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rukpakctl } from '../../../test/helpers/rukpakctl.ts';

test('a template is the first document of its file, and more of them are not left out in silence', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'catalog-template-'));
  try {
    const documents = ['a', 'b'].map(
      (name) =>
        `schema: olm.template.basic\nentries: [{schema: olm.package, name: ${name}, defaultChannel: s}]\n`,
    );
    await writeFile(join(dir, 't.yaml'), documents.join('---\n'));
    const args = ['catalog', 'template', 't.yaml'];
    const { code, stdout, stderr } = await rukpakctl(args, { cwd: dir });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '---\ndefaultChannel: s\nname: a\nschema: olm.package\n',
      stderr: 'warning: found more than one document inside t.yaml, using only the first one\n',
    });
  } finally {
    await rm(dir, { recursive: true });
  }
});
