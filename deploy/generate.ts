import { mkdir, writeFile } from 'node:fs/promises';
import { crdFiles, definitionsByFolder } from './crd-files.ts';

for (const folder of definitionsByFolder().keys()) {
  await mkdir(new URL(`${folder}/`, import.meta.url), { recursive: true });
}
for (const [path, text] of crdFiles()) await writeFile(new URL(path, import.meta.url), text);
