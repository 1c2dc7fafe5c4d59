import { describe, expect, it } from 'vitest';
import { errorMessage } from '../../core/errors.ts';
import type { BundleFiles, KubernetesObject } from '../../core/sdk.ts';
import { aCluster } from '../helpers/a-cluster.ts';
import { configOf, installModes } from '../helpers/install-modes.ts';
import { type InstalledBundleOptions, installedBundle } from '../helpers/installed-bundle.ts';
import { realBundles, realBundlesArePresent, realBundleVersions } from '../helpers/real-bundles.ts';
import { type PageRow, realBundlesPage } from '../helpers/real-bundles-page.ts';
import { smallBundles } from '../helpers/small-bundles.ts';
import type { TestedBundle } from '../helpers/tested-bundle.ts';

/** By the names of bundles. */
const converted = new Map<string, Pick<PageRow, 'withoutConfig' | 'modes'>>();

function conversions(bundles: readonly TestedBundle[]): void {
  const requiring = bundles.filter(({ required }) => required.length > 0);

  it.each(bundles)('$name in every mode that it allows', { tags: ['slow'] }, async (bundle) => {
    const files = bundle.content();
    const cluster = aCluster(bundle.required);
    const withoutConfig = await outcomeOf(files, { cluster });
    const modes: PageRow['modes'][number][] = [];
    for (const mode of bundle.modes.keys()) {
      modes.push([mode, await outcomeOf(files, { config: configOf[mode], cluster })]);
    }
    converted.set(bundle.name, { withoutConfig, modes });
    expect(withoutConfig).toBe(bundle.withoutConfig);
    expect(modes).toEqual([...bundle.modes]);
  });

  it.each(bundles)(
    '$name in no mode that it does not allow',
    { tags: ['slow'] },
    async ({ modes, content }) => {
      const files = content();
      for (const mode of installModes.filter((each) => !modes.has(each))) {
        const options = { config: configOf[mode], cluster: aCluster() };
        expect(await outcomeOf(files, options)).toMatch(
          /supported install modes \[[\w ]+\] do not support|no cluster since Kubernetes/,
        );
      }
    },
  );

  it.each(requiring)('$name says which kinds of others it needs', async ({ required, content }) => {
    const outcome = await outcomeOf(content(), {
      config: configOf.OwnNamespace,
      cluster: aCluster(),
    });
    expect(outcome).toMatch(/^the operator needs APIs that the cluster does not serve: /);
    for (const [group = '', version] of required.map((kind) => kind.split('/'))) {
      expect(outcome).toMatch(
        new RegExp(`CustomResourceDefinition \\w+\\.${group} with version ${version}[:,]`),
      );
    }
  });
}

describe('small bundles', () => {
  conversions(smallBundles);
});

describe.skipIf(!realBundlesArePresent())('real bundles', () => {
  it('are all listed', () => {
    const listed = realBundles.map(({ name }) => name.split('/').slice(0, 2).join('/'));
    expect(listed.toSorted()).toEqual(realBundleVersions().toSorted());
  });

  conversions(realBundles);

  // `vitest run --project unit test/conformance/real-bundles.test.ts -u` writes the page.
  it('convert as docs/real-bundles.md lists', { tags: ['slow'] }, async () => {
    const rows = realBundles.flatMap((bundle) => {
      const outcomes = converted.get(bundle.name);
      return outcomes === undefined ? [] : [{ ...bundle, ...outcomes }];
    });
    expect(rows).toHaveLength(realBundles.length);
    await expect(realBundlesPage(rows)).toMatchFileSnapshot('../../docs/real-bundles.md');
  });
});

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
