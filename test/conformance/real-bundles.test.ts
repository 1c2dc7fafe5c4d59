import { describe, expect, it } from 'vitest';
import { loadDirectory } from '../../cmd/ctl/load-directory.ts';
import { errorMessage } from '../../core/errors.ts';
import { type BundleFiles, defaultLimits, type KubernetesObject } from '../../core/sdk.ts';
import { aCluster } from '../helpers/a-cluster.ts';
import { configOf, installModes } from '../helpers/install-modes.ts';
import { type InstalledBundleOptions, installedBundle } from '../helpers/installed-bundle.ts';
import {
  realBundleDirectory,
  realBundles,
  realBundlesArePresent,
  realBundleVersions,
} from '../helpers/real-bundles.ts';
import { type PageRow, realBundlesPage } from '../helpers/real-bundles-page.ts';

const requiring = realBundles.filter(({ required }) => required.length > 0);
const rows: PageRow[] = [];

describe.skipIf(!realBundlesArePresent())('real bundles', () => {
  it('are all listed', () => {
    const listed = realBundles.map(({ name }) => name.split('/').slice(0, 2).join('/'));
    expect(listed.toSorted()).toEqual(realBundleVersions().toSorted());
  });

  it.each(realBundles)('$name in every mode that it allows', async (bundle) => {
    const files = contentOf(bundle.name);
    const cluster = aCluster(bundle.required);
    const withoutConfig = await outcomeOf(files, { cluster });
    const modes: PageRow['modes'][number][] = [];
    for (const mode of bundle.modes.keys()) {
      modes.push([mode, await outcomeOf(files, { config: configOf[mode], cluster })]);
    }
    rows.push({ ...bundle, withoutConfig, modes });
    expect(withoutConfig).toBe(bundle.withoutConfig);
    expect(modes).toEqual([...bundle.modes]);
  });

  it.each(realBundles)('$name in no mode that it does not allow', async ({ name, modes }) => {
    const files = contentOf(name);
    for (const mode of installModes.filter((each) => !modes.has(each))) {
      const options = { config: configOf[mode], cluster: aCluster() };
      expect(await outcomeOf(files, options)).toMatch(
        /supported install modes \[[\w ]+\] do not support|no cluster since Kubernetes/,
      );
    }
  });

  it.each(requiring)('$name says which kinds of others it needs', async ({ name, required }) => {
    const outcome = await outcomeOf(contentOf(name), {
      config: configOf.OwnNamespace,
      cluster: aCluster(),
    });
    expect(outcome).toMatch(/^the operator needs what the cluster does not serve: /);
    for (const [group = '', version] of required.map((kind) => kind.split('/'))) {
      expect(outcome).toMatch(
        new RegExp(`CustomResourceDefinition \\w+\\.${group} with version ${version}[:,]`),
      );
    }
  });

  // `vitest run --project unit test/conformance/real-bundles.test.ts -u` writes the page.
  it('become what docs/real-bundles.md says', async () => {
    expect(rows).toHaveLength(realBundles.length);
    await expect(realBundlesPage(rows)).toMatchFileSnapshot('../../docs/real-bundles.md');
  });
});

function contentOf(name: string): BundleFiles {
  return loadDirectory(realBundleDirectory(name), defaultLimits);
}

/** How many objects it is, each of them once; or why it is none. */
async function outcomeOf(
  files: BundleFiles,
  options: InstalledBundleOptions,
): Promise<number | string> {
  try {
    const objects = await installedBundle(files, options);
    expect(new Set(objects.map(identityOf)).size).toBe(objects.length);
    return objects.length;
  } catch (error) {
    return errorMessage(error);
  }
}

function identityOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  return [apiVersion, kind, metadata.namespace, metadata.name].join(' ');
}
