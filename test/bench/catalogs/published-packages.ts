import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CatalogConfig,
  newPackage,
  type OlmBundle,
  writeYaml,
} from '../../../catalog/blobs/index.ts';
import { imageTemplate, migrationsUpTo, renderReference } from '../../../catalog/render/index.ts';
import { validateParts } from '../../../catalog/validate/index.ts';
import { realBundleDirectory, realBundleVersions } from '../../helpers/real-bundles.ts';

/** A package of a catalog as it was published, or as its bundle would be. */
export interface PublishedPackage {
  readonly name: string;
  /** YAML, a document a blob. */
  readonly text: string;
}

/** Packages as they were published; kept beside the project, not in it. */
const catalogs = join(import.meta.dirname, '../../../../shared/catalogs/packages');

/** Real packages of public catalogs, and real bundles as such catalogs list them. */
export async function publishedPackages(): Promise<readonly PublishedPackage[]> {
  const names = await readdir(catalogs);
  const listed = await Promise.all(
    names.map(async (name) => {
      return { name, text: await readFile(join(catalogs, name, 'catalog.yaml'), 'utf8') };
    }),
  );
  // One was cut off before it came here: opm refuses it, and so do we.
  const whole = listed.filter(({ text }) => text.endsWith('\n'));
  const bundles = await Promise.all(realBundleVersions().map(packageOfBundle));
  return [...whole, ...bundles.filter((each) => each !== undefined)];
}

/**
 * Without its manifests, which its image has, as in public catalogs. Undefined for a bundle that opm
 * does not render or validate.
 */
async function packageOfBundle(version: string): Promise<PublishedPackage | undefined> {
  const registry = async (): Promise<never> => await Promise.reject(new Error('no registry'));
  const rendered = await renderReference(realBundleDirectory(version), {
    registry,
    signal: new AbortController().signal,
    imageTemplate: imageTemplate('registry.example.com/{{.Package}}/bundle:v{{.Version}}'),
    migrations: migrationsUpTo('all'),
  }).catch(() => undefined);
  const [bundle] = rendered?.bundles ?? [];
  // Its name is searched for in the text below.
  if (bundle === undefined || !/^[a-z][a-z-]*$/.test(bundle.package)) return undefined;
  const config = configOf(bundle);
  const isValid = await validateParts([config]).then(
    () => true,
    () => false,
  );
  return isValid ? { name: bundle.package, text: [...writeYaml(config)].join('') } : undefined;
}

function configOf(bundle: OlmBundle): CatalogConfig {
  const entry = { name: bundle.name, replaces: '', skips: [], skipRange: '' };
  const channel = { schema: 'olm.channel', name: 'stable', package: bundle.package } as const;
  return {
    packages: [newPackage({ name: bundle.package, defaultChannel: 'stable', description: '' })],
    channels: [{ ...channel, entries: [entry], properties: [] }],
    bundles: [bundle],
    deprecations: [],
    others: [],
  };
}
