import { mkdir, writeFile } from 'node:fs/promises';
import { crdFiles, crdFolder } from './crd-files.ts';

await mkdir(crdFolder, { recursive: true });
for (const [name, text] of crdFiles()) {
  await writeFile(new URL(name, crdFolder), text);
}
