import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publishedPackages } from './published-packages.ts';

export interface CopiedCatalog {
  readonly packages: number;
  readonly bundles: number;
  readonly bytes: number;
}

/** Writes a catalog of at least so many bundles: real packages, again and again under other names. */
export async function copyCatalog(folder: string, bundles: number): Promise<CopiedCatalog> {
  const published = await publishedPackages();
  const made = { packages: 0, bundles: 0, bytes: 0 };
  for (let copy = 0; made.bundles < bundles; copy += 1) {
    for (const [index, { name: original, text }] of published.entries()) {
      const name = `${original}-${index}-${copy}`;
      const renamed = renamedPackage(text, original, name);
      await mkdir(join(folder, name), { recursive: true });
      await writeFile(join(folder, name, 'catalog.yaml'), renamed);
      made.packages += 1;
      made.bundles += renamed.match(/^schema: olm\.bundle$/gm)?.length ?? 0;
      made.bytes += Buffer.byteLength(renamed);
    }
  }
  return made;
}

function renamedPackage(text: string, from: string, to: string): string {
  const named = new RegExp(`^( *(?:package|packageName): )${from}$`, 'gm');
  return text
    .split(/^(?=---$)/m)
    .map((blob) => {
      const isPackage = /^schema: olm\.package$/m.test(blob);
      const own = isPackage ? blob.replace(`\nname: ${from}\n`, `\nname: ${to}\n`) : blob;
      return own.replace(named, `$1${to}`);
    })
    .join('');
}
