import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/index.ts';
import {
  aClusterExtension,
  anOperator,
  installedDeployment,
} from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';
import { listing } from '../../../test/helpers/remote-catalogs.ts';
import { ClusterExtensions } from './cluster-extensions.ts';
import { planUpgrade } from './upgrade-plan.ts';
import { withWish } from './wanted-extension.ts';

const { signal } = new AbortController();
const kinds = ['Operator', 'ClusterExtension', bundleDeploymentResource.kind];

async function clusterOf(...objects: readonly KubernetesObject[]): Promise<ClusterExtensions> {
  return await ClusterExtensions.read(listing(objects, kinds), signal);
}

function colours(kind: 'Catalog' | 'ClusterCatalog'): FixedContents {
  const contents = new FixedContents();
  const versions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'];
  contents.serve({ kind, name: 'colours' }, aPackage({ versions }));
  return contents;
}

describe('a plan', () => {
  async function planOf(object: KubernetesObject, installed: string, version: string) {
    const all = await clusterOf(object, installedDeployment(object, installed));
    const isOperator = object.kind === 'Operator';
    const contents = colours(isOperator ? 'Catalog' : 'ClusterCatalog');
    return await planUpgrade(await all.subjectOf(withWish(object, { version })), contents);
  }

  test('of an Operator is one upgrade', async () => {
    expect(await planOf(anOperator(), '1.0.0', '>=1.0.0')).toMatchObject({
      from: '1.0.0',
      target: { version: '1.2.0' },
      stays: false,
      steps: [{ version: '1.2.0' }],
      refusal: undefined,
    });
  });

  test('of a ClusterExtension has all steps of the graph', async () => {
    expect(await planOf(aClusterExtension(), '1.0.0', '2.0.0')).toMatchObject({
      target: { name: 'painter.v2.0.0' },
      steps: [{ version: '1.1.0' }, { version: '1.2.0' }, { version: '2.0.0' }],
      refusal: undefined,
    });
  });

  test('without a step keeps what is installed', async () => {
    const plan = await planOf(anOperator(), '1.2.0', '1.2.0');
    expect(plan).toMatchObject({
      target: { version: '1.2.0' },
      stays: true,
      steps: [],
      refusal: undefined,
    });
  });

  test('to another build of the installed version is an upgrade', async () => {
    const object = aClusterExtension({ version: '1.2.0' });
    const all = await clusterOf(object, installedDeployment(object, '1.2.0+1'));
    const contents = new FixedContents();
    const catalog = { kind: 'ClusterCatalog', name: 'colours' } as const;
    contents.serve(catalog, aPackage({ versions: ['1.2.0+1', '1.2.0+2'] }));
    expect(await planUpgrade(await all.subjectOf(object), contents)).toMatchObject({
      from: '1.2.0+1',
      target: { name: 'painter.v1.2.0+2' },
      stays: false,
      steps: [{ version: '1.2.0+2' }],
    });
  });

  test('is refused without a path, with what would help', async () => {
    const { target, refusal } = await planOf(anOperator(), '1.0.0', '2.0.0');
    expect(target).toBeUndefined();
    expect(refusal).toContain('Set upgradeConstraintPolicy to Ignore');
  });

  test('is refused for another package than the installed one, whatever its graph', async () => {
    const object = aClusterExtension({ packageName: 'brush', version: '1.2.0' });
    const all = await clusterOf(object, installedDeployment(object, '1.0.0'));
    const contents = new FixedContents();
    const versions = ['1.1.0', '1.2.0'];
    const entries = versions.map((version, index) => ({
      name: `brush.v${version}`,
      skips: [],
      replaces: ['painter.v1.0.0', 'brush.v1.1.0'][index] ?? '',
    }));
    const channels = [{ name: 'stable', entries }];
    const catalog = { kind: 'ClusterCatalog', name: 'colours' } as const;
    contents.serve(catalog, aPackage({ name: 'brush', versions, channels }));
    const plan = await planUpgrade(await all.subjectOf(object), contents);
    expect(plan.target).toBeUndefined();
    expect(plan.refusal).toContain('does not replace it by package "brush"');
  });

  test('is one step with the policy that allows all', async () => {
    const forced = anOperator({ upgradeConstraintPolicy: 'Ignore' });
    expect(await planOf(forced, '1.2.0', '1.0.0')).toMatchObject({
      from: '1.2.0',
      steps: [{ version: '1.0.0' }],
    });
  });
});
