import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCatalogImage } from '../../catalog/images/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { type Credentials, RegistryAccess } from '../../core/registry/index.ts';

const { signal } = new AbortController();

/** Builds a catalog image of files and pushes it; returns its reference by digest. */
export async function pushCatalog(
  ref: string,
  files: Readonly<Record<string, string>>,
  credentials?: Credentials,
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'push-catalog-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(directory, name), content);
    }
    const known = credentials === undefined ? [] : [credentials];
    const access = new RegistryAccess({
      insecureRegistries: [ref.slice(0, ref.indexOf('/'))],
      caCertificates: [],
      keychain: { credentialsFor: () => known },
      clock: systemClock,
    });
    const image = await buildCatalogImage(directory, { signal });
    const { target, tag } = await access.openTarget(`docker://${ref}`);
    await image.push(target, tag, signal);
    const { digest } = image.descriptor;
    await image.close();
    await target.close();
    return `${ref.slice(0, ref.lastIndexOf(':'))}@${digest}`;
  } finally {
    await rm(directory, { recursive: true });
  }
}
