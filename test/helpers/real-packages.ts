import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fieldAt } from '../../api/json-fields.ts';
import { parseYaml } from '../../core/sdk.ts';
import { realBundleDirectory, realBundles, realBundlesArePresent } from './real-bundles.ts';
import { rukpakctl } from './rukpakctl.ts';
import type { TestedBundle } from './tested-bundle.ts';

/** Packages as they are published; kept beside the project, not in it. */
const published = fileURLToPath(new URL('../../../shared/catalogs/packages', import.meta.url));

export function realPackagesArePresent(): boolean {
  return realBundlesArePresent() && existsSync(published);
}

/** The end of a file is missing: opm refuses any catalog with it. */
const cutOff = 'slurm-operator';

export function publishedPackages(): readonly string[] {
  return readdirSync(published).filter((name) => name !== cutOff);
}

/** A bundle that can be built, in a catalog. */
export interface RealPackage {
  readonly bundle: TestedBundle;
  readonly packageName: string;
  readonly version: string;
}

export interface RealCatalogs {
  /** References to images of catalogs, at quay.io as those of their bundles. */
  readonly refs: Readonly<Record<'published' | 'rebuilt', string>>;
  readonly packages: readonly RealPackage[];
}

interface Place {
  /** `host:port` */
  readonly registry: string;
  readonly dir: string;
}

/** The flag with which a process finds at the registry what is published at quay.io. */
export async function mirrorFlag({ registry, dir }: Place): Promise<string> {
  const file = join(dir, 'registries.conf');
  const mirror = `[[registry.mirror]]\nlocation = "${registry}/quay"\ninsecure = true\n`;
  await writeFile(file, `[[registry]]\nlocation = "quay.io"\n${mirror}`);
  return `--registries-conf=${file}`;
}

/**
 * Builds images of the real bundles, and of two catalogs: the published packages, in which the
 * bundles that can be built have the digest of their image here, and packages of all other bundles.
 */
export async function pushRealCatalogs(place: Place): Promise<RealCatalogs> {
  const flag = await mirrorFlag(place);
  const folders = { published: join(place.dir, 'published'), rebuilt: join(place.dir, 'rebuilt') };
  for (const name of publishedPackages()) {
    const text = await readFile(join(published, name, 'catalog.yaml'), 'utf8');
    await writeFileIn(join(folders.published, name), 'catalog.yaml', text);
  }
  const packages: RealPackage[] = [];
  const texts = new Map<string, string[]>();
  for (const bundle of realBundles) {
    const image = await pushBundle(place, bundle);
    const blob = await ctl('catalog', 'render', image, '--output=json', flag);
    const { name, package: packageName, ...rest } = JSON.parse(blob) as Blob;
    packages.push({ bundle, packageName, version: versionOf(rest) });
    if (await isPublished(folders.published, { name, packageName, image })) continue;
    texts.set(packageName, [...(texts.get(packageName) ?? []), blob]);
    await writePackage(folders.rebuilt, { packageName, bundle, blobs: texts.get(packageName) });
  }
  const refs = {
    published: await pushCatalog(place, folders.published),
    rebuilt: await pushCatalog(place, folders.rebuilt),
  };
  return { refs, packages };
}

interface Blob {
  readonly name: string;
  readonly package: string;
  readonly properties?: readonly { readonly type: string; readonly value: unknown }[];
}

function versionOf({ properties = [] }: Pick<Blob, 'properties'>): string {
  const found = properties.find(({ type }) => type === 'olm.package');
  return String(fieldAt(found?.value, 'version'));
}

/** @returns its reference by digest, at quay.io */
async function pushBundle({ registry }: Place, { name }: TestedBundle): Promise<string> {
  const [operator = '', version = ''] = name.split('/');
  const to = `${registry}/quay/rebuilt/${operator}:${version}`;
  const directory = realBundleDirectory(name);
  const hosts = ['--insecure-registry', registry];
  const built = await ctl('bundle', 'build', directory, '--to', to, ...hosts);
  const [digest = ''] = /sha256:[0-9a-f]{64}/.exec(built) ?? [];
  return `quay.io/rebuilt/${operator}@${digest}`;
}

/** Whether a published package has the bundle, which then names the image. */
async function isPublished(
  folder: string,
  { name, packageName, image }: { name: string; packageName: string; image: string },
): Promise<boolean> {
  const file = join(folder, packageName, 'catalog.yaml');
  if (!existsSync(file)) return false;
  const text = await readFile(file, 'utf8');
  const changed = text.replace(`\nname: ${name}\n`, (line) => `\nimage: ${image}${line}`);
  if (changed === text) return false;
  const lines = changed.split('\n');
  // The line before is the image's own one.
  await writeFile(file, lines.toSpliced(lines.indexOf(`image: ${image}`) - 1, 1).join('\n'));
  return true;
}

/** With the channels that the annotations name, in which versions follow one another. */
async function writePackage(
  folder: string,
  wanted: { packageName: string; bundle: TestedBundle; blobs: readonly string[] | undefined },
): Promise<void> {
  const { packageName, bundle, blobs = [] } = wanted;
  const file = join(realBundleDirectory(bundle.name), 'metadata/annotations.yaml');
  const prefix = 'operators.operatorframework.io.bundle.channel';
  const annotations = fieldAt(parseYaml(await readFile(file, 'utf8')), 'annotations');
  const channels = String(fieldAt(annotations, `${prefix}s.v1`)).split(',');
  const preferred = String(fieldAt(annotations, `${prefix}.default.v1`));
  const names = blobs.map((blob) => (JSON.parse(blob) as Blob).name);
  const entries = names.map((name, index) => {
    return index === 0 ? { name } : { name, replaces: names[index - 1] };
  });
  const [first = ''] = channels;
  const defaultChannel = channels.includes(preferred) ? preferred : first;
  const texts = [
    JSON.stringify({ schema: 'olm.package', name: packageName, defaultChannel }),
    ...channels.map((name) =>
      JSON.stringify({ schema: 'olm.channel', package: packageName, name, entries }),
    ),
    ...blobs,
  ];
  await writeFileIn(join(folder, packageName), 'catalog.json', texts.join('\n'));
}

async function writeFileIn(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
}

async function pushCatalog({ registry }: Place, folder: string): Promise<string> {
  const name = `catalogs/${folder.split('/').at(-1)}:v1`;
  const to = `${registry}/quay/${name}`;
  await ctl('catalog', 'build', folder, '--to', to, '--insecure-registry', registry);
  return `quay.io/${name}`;
}

async function ctl(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await rukpakctl(args);
  if (code !== 0) throw new Error(`rukpakctl ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}
