import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { label } from '../../api/v1alpha1/index.ts';
import { AuditLog } from '../helpers/audit-log.ts';
import { eventually } from '../helpers/eventually.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { plainFiles, pushContent } from '../helpers/push-content.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const audit = new AuditLog(plane.clusterDir);
const operators = 'operators.operators.operatorframework.io';
const version = '1.0.0';

/** Seven teams without trouble, some with Operators and some with ClusterExtensions. */
const quiet = Array.from({ length: 7 }, (_, index) => `tenants-team-${index}`);
const broken = 'tenants-broken';
const impossible = 'tenants-impossible';
const deprecated = 'tenants-deprecated';
const late = 'tenants-late';
const withExtension = new Set([...quiet.slice(4), impossible]);

let system: System;

beforeAll(async () => {
  await pushCatalogs();
  system = await System.start({ kubeconfig, registry, installFlags: ['--operators'] });
  await kubectl.apply(
    ofCatalogs('v1'),
    ofClusterCatalogs('v1'),
    aCatalog('tenants-own', `${registry}/tenants/own:v1`),
  );
  await kubectl.apply(...[...quiet, broken, impossible, deprecated].map((team) => objectOf(team)));
  for (const team of [...quiet, broken, impossible, deprecated]) await isInstalled(team);
});

afterAll(async () => {
  await kubectl.deleteAll(`${operators},clusterextensions`, { wait: false, ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteAll('catalogs,clustercatalogs', { ignoreNotFound: true });
  await system?.stop();
  await removeOperatorCrds(kubeconfig);
});

/** Catalogs of all teams with one bundle each; in the second one, a package is deprecated. */
async function pushCatalogs(): Promise<void> {
  const teams = [...quiet, impossible, deprecated, late];
  const blobs = await Promise.all(teams.map(packageOf));
  const entries = [{ reference: { schema: 'olm.package' }, message: 'use tenants-successor' }];
  const deprecation = { schema: 'olm.deprecations', package: deprecated, entries };
  const files = { 'catalog.json': blobs.join('\n') };
  await pushCatalog(`${registry}/tenants/all:v1`, files);
  const more = { 'more.json': JSON.stringify(deprecation) };
  await pushCatalog(`${registry}/tenants/all:v2`, { ...files, ...more });
  await pushCatalog(`${registry}/tenants/own:v1`, { 'catalog.json': await packageOf(broken) });
  await pushCatalog(`${registry}/tenants/own:v2`, { 'README.md': '# No catalog' });
}

async function packageOf(name: string): Promise<string> {
  const files = plainFiles([aConfigMap(name)]);
  const { image } = await pushContent({ registry, name, version: 1, files });
  const bundle = `${name}.v${version}`;
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: bundle }] },
    {
      schema: 'olm.bundle',
      package: name,
      name: bundle,
      image: image?.ref,
      properties: [
        { type: 'olm.package', value: { packageName: name, version } },
        { type: 'olm.bundle.mediatype', value: 'plain+v0' },
      ],
    },
  ]
    .map((blob) => JSON.stringify(blob))
    .join('\n');
}

function aCatalog(name: string, ref: string): object {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name },
    spec: { source: { type: 'image', image: { ref } } },
  };
}

function ofCatalogs(tag: string): object {
  return aCatalog('tenants', `${registry}/tenants/all:${tag}`);
}

function ofClusterCatalogs(tag: string): object {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name: 'tenants' },
    spec: { source: { type: 'Image', image: { ref: `${registry}/tenants/all:${tag}` } } },
  };
}

/** A team's Operator or ClusterExtension. */
function objectOf(team: string, range = version): object {
  const metadata = { name: team };
  if (!withExtension.has(team)) {
    const spec = { packageName: team, version: range };
    return {
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata,
      spec,
    };
  }
  const catalog = { packageName: team, version: range };
  const source = { sourceType: 'Catalog', catalog };
  const spec = { namespace: 'default', source };
  return { apiVersion: 'olm.operatorframework.io/v1', kind: 'ClusterExtension', metadata, spec };
}

function kindOf(team: string): string {
  return withExtension.has(team) ? 'clusterextension' : operators;
}

async function isInstalled(team: string): Promise<void> {
  await eventually(async () => {
    const object = await kubectl.get(kindOf(team), team);
    expect(conditionOf(object, 'Installed')).toMatchObject({ status: 'True' });
    expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'True' });
    expect(await kubectl.exists('configmap', team)).toBe(true);
  });
}

/** Everything that the cluster has of the quiet teams, by kind and name, with its version. */
async function quietObjects(): Promise<Readonly<Record<string, unknown>>> {
  const kinds = `${operators},clusterextensions,bundledeployments,bundles,configmaps,events`;
  const objects = await kubectl.list(kinds);
  const found = objects.filter((object) => quiet.some((team) => ownerName(object) === team));
  return Object.fromEntries(
    found.map(({ kind, metadata: { name, resourceVersion }, status }) => [
      `${kind} ${name}`,
      { resourceVersion, status },
    ]),
  );
}

function ownerName({ metadata, involvedObject }: KubernetesObject): string {
  const { labels, name = '' } = metadata;
  const { name: involved } = (involvedObject ?? {}) as { readonly name?: string };
  return involved ?? labels?.[label.ownerName] ?? name;
}

async function condition(team: string, type: string, expected: object): Promise<void> {
  await eventually(async () => {
    expect(conditionOf(await kubectl.get(kindOf(team), team), type)).toMatchObject(expected);
  });
}

async function warnings(kind: string, name: string): Promise<readonly string[]> {
  const { uid } = (await kubectl.get(kind, name)).metadata;
  const events = await kubectl.list('events');
  return events
    .filter(({ involvedObject, type }) => {
      return type === 'Warning' && (involvedObject as { uid?: string }).uid === uid;
    })
    .map(({ reason, message }) => `${String(reason)}: ${String(message)}`);
}

test('seven of ten teams see nothing of the troubles of three', async () => {
  const before = await quietObjects();
  expect(Object.keys(before).length).toBeGreaterThan(4 * quiet.length);
  const position = await audit.position();

  await kubectl.apply(aCatalog('tenants-own', `${registry}/tenants/own:v2`));
  await kubectl.apply(aCatalog('tenants-nowhere', `${registry}/tenants/nowhere:v1`));
  await kubectl.apply(objectOf(impossible, '>=2.0.0'));
  await kubectl.apply(ofCatalogs('v2'), ofClusterCatalogs('v2'));

  await eventually(async () => {
    const catalog = await kubectl.get('catalog', 'tenants-own');
    expect(conditionOf(catalog, 'Unpacked')).toMatchObject({
      status: 'False',
      reason: 'FailedToStore',
    });
    expect(conditionOf(catalog, 'Ready')).toMatchObject({ status: 'False' });
    expect(await warnings('catalog', 'tenants-own')).toHaveLength(1);
  });
  await condition(impossible, 'Ready', {
    status: 'False',
    message: expect.stringMatching(
      /leaves 0 bundles.*\(bundle "tenants-impossible\.v1\.0\.0" stays installed\)$/,
    ),
  });
  await condition(impossible, 'Installed', { status: 'True' });
  await condition(deprecated, 'Deprecated', { status: 'True', message: 'use tenants-successor' });
  await condition(deprecated, 'Ready', { status: 'True' });
  await eventually(async () => {
    expect(await warnings(operators, deprecated)).toEqual(['Deprecated: use tenants-successor']);
    const told = await warnings('clusterextension', impossible);
    expect(told).toContainEqual(expect.stringMatching(/^Retrying: .* matching version ">=2.0.0"$/));
  });
  // The team of the broken catalog keeps what it has.
  await isInstalled(broken);
  // Others come and are installed as ever.
  await kubectl.apply(objectOf(late));
  await isInstalled(late);

  expect(await audit.about(new Set([impossible]), position)).not.toEqual([]);
  expect(await audit.about(new Set(quiet), position)).toEqual([]);
  expect(await quietObjects()).toEqual(before);
});
