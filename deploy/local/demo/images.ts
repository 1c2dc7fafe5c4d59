import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BuiltImage } from '../../../catalog/images/index.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../../core/registry/index.ts';
import { greeter } from './content.ts';

interface DemoFolders {
  readonly samples: string;
  /** For what the demo writes. */
  readonly folder: string;
}

/** Pushes the bundles of the demo to a registry that speaks plain HTTP. */
export async function pushImages(
  registry: string,
  { samples, folder }: DemoFolders,
): Promise<void> {
  const { signal } = new AbortController();
  const access = new RegistryAccess({
    insecureRegistries: [registry],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const images = [
    ['samples/hello:v1', join(samples, 'hello'), ['manifests']],
    ['samples/hello:v2', join(samples, 'hello-v2'), ['manifests']],
    ['samples/greeter-bundle:v1', await writeGreeter(folder), ['manifests', 'metadata']],
  ] as const;
  for (const [name, bundle, parts] of images) {
    const directories = parts.map((part) => ({ from: join(bundle, part), to: part }));
    const image = await BuiltImage.build({ directories, labels: new Map() }, signal);
    const { target, tag } = await access.openTarget(`${registry}/${name}`);
    await image.push(target, tag, signal);
    await target.close();
    await image.close();
  }
}

async function writeGreeter(folder: string): Promise<string> {
  const bundle = join(folder, 'greeter');
  for (const [path, content] of Object.entries(greeter)) {
    await mkdir(dirname(join(bundle, path)), { recursive: true });
    await writeFile(join(bundle, path), content);
  }
  return bundle;
}
