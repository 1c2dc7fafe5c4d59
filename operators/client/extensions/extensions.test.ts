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
import { explainExtension, extensionPath } from './extension-answers.ts';
import { extensionProgress } from './extension-row.ts';
import { newExtension, otherManagers, wishPatch, withWish } from './wanted-extension.ts';

const { signal } = new AbortController();
const kinds = ['Operator', 'ClusterExtension', bundleDeploymentResource.kind];

async function clusterOf(...objects: readonly KubernetesObject[]): Promise<ClusterExtensions> {
  return await ClusterExtensions.read(listing(objects, kinds), signal);
}

function colours(kind: 'Catalog' | 'ClusterCatalog' = 'Catalog'): FixedContents {
  const contents = new FixedContents();
  const versions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'];
  contents.serve({ kind, name: 'colours' }, aPackage({ versions }));
  return contents;
}

describe('the extensions of a cluster', () => {
  test('are found by name, and by kind and name', async () => {
    const all = await clusterOf(anOperator(), aClusterExtension(), anOperator({}, 'other'));
    expect(all.find('other')).toMatchObject({ kind: 'Operator' });
    expect(all.find('ClusterExtension/painter')).toMatchObject({ kind: 'ClusterExtension' });
    expect(all.find('nobody')).toBeUndefined();
    expect(() => all.find('painter')).toThrow(
      'Operator "painter" and ClusterExtension "painter" exist: write operator/painter or clusterextension/painter',
    );
    expect(() => all.named('operator/nobody')).toThrow('there is no Operator "nobody"');
  });

  test('an object of another name is named for its package', async () => {
    const all = await clusterOf(anOperator({}, 'mine'));
    expect(() => all.named('painter')).toThrow(
      'there is no Operator or ClusterExtension "painter"; Operator "mine" has the package of this name',
    );
  });

  test('that others require name these, and are deleted with the last of them', async () => {
    const [a, b, c] = [anOperator({}, 'a'), anOperator({}, 'b'), aClusterExtension({}, {}, 'c')];
    const ownedBy = (...owners: readonly KubernetesObject[]): KubernetesObject => {
      const names = owners.map(({ metadata }) => metadata.name);
      const { metadata, ...operator } = anOperator({}, `of-${names.join('-')}`);
      const ownerReferences = owners.map(
        ({ apiVersion, kind, metadata: { name = '', uid = '' } }) => {
          return { apiVersion, kind, name, uid };
        },
      );
      return { ...operator, metadata: { ...metadata, ownerReferences } };
    };
    const all = await clusterOf(a, b, c, ownedBy(a), ownedBy(a, b), ownedBy(a, c), ownedBy(c));
    expect(all.rows.map(({ name, requiredBy }) => [name, requiredBy])).toEqual([
      ['a', []],
      ['b', []],
      ['of-a', ['a']],
      ['of-a-b', ['a', 'b']],
      ['of-a-c', ['a', 'ClusterExtension/c']],
      ['of-c', ['ClusterExtension/c']],
      ['c', []],
    ]);
    expect(all.deletedWith(a)).toEqual(['of-a']);
    expect(all.deletedWith(c)).toEqual(['of-c']);
  });

  test('need not be served', async () => {
    const all = await ClusterExtensions.read(listing([], ['ClusterExtension']), signal);
    expect([...all.kinds]).toEqual(['ClusterExtension']);
  });
});

describe('an explanation', () => {
  test('is that of what the controller selects', async () => {
    const operator = anOperator({ version: '1.x' });
    const all = await clusterOf(operator, installedDeployment(operator, '1.0.0'));
    const found = await explainExtension(await all.subjectOf(operator), colours());
    expect(found.selected).toEqual({
      name: 'painter.v1.2.0',
      version: '1.2.0',
      catalog: 'colours',
    });
    expect(found.explanation).toMatchObject({
      asked: 'package "painter" in version range "1.x", as an upgrade from "painter.v1.0.0"',
      message: 'resolved to "example.com/painter:1.2.0"',
    });
  });

  test('says what the selected bundle requires, and who has it', async () => {
    const required = (packageName: string) => ({
      type: 'olm.package.required',
      value: { packageName, versionRange: '>=1.0.0' },
    });
    const contents = new FixedContents();
    const properties = [required('painter'), required('brush')];
    const brush = aPackage({ name: 'brush' });
    contents.serve({}, aPackage({ name: 'wall', properties }), aPackage(), brush);
    const operator = anOperator();
    const all = await clusterOf(operator, installedDeployment(operator, '1.0.0'));
    const wall = anOperator({ packageName: 'wall' }, 'wall');
    const { requires } = await explainExtension(await all.subjectOf(wall), contents);
    expect(requires).toEqual([
      { text: 'package "painter" in version range ">=1.0.0"', metBy: 'Operator "painter"' },
      { text: 'package "brush" in version range ">=1.0.0"', metBy: undefined },
    ]);
  });

  test('names a catalog that cannot be read', async () => {
    const contents = colours();
    contents.breakPackage('painter', 'no connection');
    const all = await clusterOf();
    const { selected, explanation } = await explainExtension(
      await all.subjectOf(anOperator()),
      contents,
    );
    expect(selected).toBeUndefined();
    expect(explanation.message).toContain('from catalog "colours": no connection');
  });
});

describe('a path', () => {
  const extension = aClusterExtension();

  test('leads from the installed version along the graph', async () => {
    const all = await clusterOf(extension, installedDeployment(extension, '1.0.0'));
    const subject = await all.subjectOf(extension);
    const { from, path } = await extensionPath(subject, colours('ClusterCatalog'), { to: '1.2.0' });
    expect(from).toBe('1.0.0');
    expect(path).toMatchObject({ steps: [{ version: '1.1.0' }, { version: '1.2.0' }] });
  });

  test('leads from another version, in the channels of the object alone', async () => {
    const all = await clusterOf();
    const contents = colours('ClusterCatalog');
    const subject = await all.subjectOf(extension);
    const request = { from: '1.1.0', to: '2.0.0' };
    expect(await extensionPath(subject, contents, request)).toMatchObject({
      from: '1.1.0',
      path: { kind: 'path', steps: [{ version: '1.2.0' }, { version: '2.0.0' }] },
    });
    const elsewhere = await all.subjectOf(aClusterExtension({ channels: ['beta'] }));
    expect((await extensionPath(elsewhere, contents, request)).path.kind).toBe('none');
  });

  test('needs a version to start from', async () => {
    const all = await clusterOf();
    const subject = await all.subjectOf(extension);
    const contents = colours('ClusterCatalog');
    await expect(extensionPath(subject, contents, { to: '2.0.0' })).rejects.toThrow(
      'ClusterExtension "painter" has no bundle installed: pass --from with the version to start from',
    );
    await expect(extensionPath(subject, contents, { from: 'x', to: '2.0.0' })).rejects.toThrow(
      '--from x is not a version',
    );
  });
});

describe('a wish', () => {
  test('becomes an Operator', () => {
    const wish = { kind: 'Operator', name: 'p', packageName: 'painter', version: '1.x' } as const;
    expect(newExtension({ ...wish, channels: ['stable'] })).toEqual({
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata: { name: 'p' },
      spec: { packageName: 'painter', version: '1.x', channel: 'stable' },
    });
  });

  test('becomes a ClusterExtension', () => {
    const place = { namespace: 'ns', serviceAccount: 'sa', catalog: 'c' };
    const wish = { kind: 'ClusterExtension', name: 'p', packageName: 'painter', ...place } as const;
    expect(newExtension({ ...wish, channels: ['a', 'b'] })['spec']).toEqual({
      namespace: 'ns',
      serviceAccount: { name: 'sa' },
      source: {
        sourceType: 'Catalog',
        catalog: {
          packageName: 'painter',
          channels: ['a', 'b'],
          selector: { matchLabels: { 'olm.operatorframework.io/metadata.name': 'c' } },
        },
      },
    });
  });

  test('changes the named fields alone', () => {
    const patch = wishPatch('ClusterExtension', { version: '2.0.0', force: true });
    const catalog = { version: '2.0.0', upgradeConstraintPolicy: 'SelfCertified' };
    expect(patch).toEqual({ spec: { source: { catalog } } });
    expect(withWish(aClusterExtension({ channels: ['a'] }), { version: '2' })['spec']).toEqual({
      namespace: 'painters',
      source: {
        sourceType: 'Catalog',
        catalog: { packageName: 'painter', channels: ['a'], version: '2' },
      },
    });
  });

  test('names those who have applied these fields too', () => {
    const managed = (manager: string, operation: string, field: string) => ({
      manager,
      operation,
      fieldsV1: { 'f:spec': { [`f:${field}`]: {} } },
    });
    const managedFields = [
      managed('gitops', 'Apply', 'version'),
      managed('other', 'Apply', 'channel'),
      managed('kubectl-edit', 'Update', 'version'),
      managed('kubectl-client-side-apply', 'Update', 'version'),
      managed('rukpakctl', 'Apply', 'version'),
    ];
    const { metadata, ...operator } = anOperator();
    const object = { ...operator, metadata: { ...metadata, managedFields } } as KubernetesObject;
    expect(otherManagers(object, wishPatch('Operator', { version: '2' }))).toEqual([
      'gitops',
      'kubectl-client-side-apply',
    ]);
  });
});

describe('the progress of an extension', () => {
  function withReady(status: string, reason: string, fields: object = {}): KubernetesObject {
    const ready = { type: 'Ready', status, reason, message: 'm', observedGeneration: 1, ...fields };
    const stalled = { type: 'Stalled', status: reason === 'Blocked' ? 'True' : 'False' };
    return { ...anOperator(), status: { conditions: [ready, stalled] } };
  }

  test.each([
    [anOperator(), 'waiting', ''],
    [withReady('True', 'Healthy'), 'ready', 'Healthy'],
    [withReady('True', 'Healthy', { observedGeneration: 0 }), 'waiting', ''],
    [withReady('False', 'RollingOut'), 'waiting', 'RollingOut'],
    [withReady('False', 'ResolutionFailed'), 'failed', 'ResolutionFailed'],
    [withReady('False', 'Blocked'), 'failed', 'Blocked'],
  ])('%#', (object, phase, reason) => {
    expect(extensionProgress(object)).toMatchObject({ name: 'painter', phase, reason });
  });
});
