import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldAt, isMap, listOf, mapOf } from '../../api/json-fields.ts';
import { eventually } from '../helpers/eventually.ts';
import { installOperatorCrds, removeOperatorCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const name = 'operator-kinds';
const transition = '2026-01-01T00:00:00Z';

beforeAll(async () => await installOperatorCrds(plane.kubeconfig));
afterAll(async () => await removeOperatorCrds(plane.kubeconfig));

test.each([
  ['catalogd.operatorframework.io/v1alpha1', 'Catalog'],
  ['operators.operatorframework.io/v1alpha1', 'Operator'],
  ['olm.operatorframework.io/v1', 'ClusterCatalog'],
  ['olm.operatorframework.io/v1', 'ClusterExtension'],
])('kubectl explain documents every field of %s %s', async (apiVersion, kind) => {
  // The API server publishes what fields are in its own time.
  const schema = await eventually(async () => {
    const text = await kubectl.must(['get', '--raw', `/openapi/v3/apis/${apiVersion}`]);
    const schemas = Object.entries(mapOf(fieldAt(JSON.parse(text), 'components', 'schemas')));
    const found = schemas.find(([key]) => key.endsWith(`.${kind}`));
    if (found === undefined) throw new Error(`no schema of ${kind} is published`);
    return found[1];
  });
  expect(fieldAt(schema, 'description')).toBeTypeOf('string');
  expect(undescribed(schema)).toEqual([]);
});

test('kubectl explain prints them', async () => {
  const explain = async (path: string, version: string) =>
    await kubectl.must(['explain', path, `--api-version=${version}`]);
  await eventually(async () => {
    const version = 'operators.operatorframework.io/v1alpha1';
    expect(await explain('operator.spec.version', version)).toContain('or a range');
    const extension = await explain('clusterextension.spec.source', 'olm.operatorframework.io/v1');
    expect(extension).toContain('Package of the ClusterCatalogs.');
  });
});

test('a Catalog prints its columns', async () => {
  const image = { ref: 'example.com/catalog:v1' };
  await create('catalogd.operatorframework.io/v1alpha1', 'Catalog', {
    source: { type: 'image', image },
  });
  await setStatus('catalog', {
    phase: 'Unpacked',
    packages: 3,
    conditions: [condition('Ready True Serving', 'all is well')],
  });
  const { head, row } = await table('catalogs');
  // Columns of the first project are where its users' scripts count them.
  expect(head).toEqual(['NAME', 'PHASE', 'AGE', 'READY', 'REASON']);
  expect([row[1], ...row.slice(3)]).toEqual(['Unpacked', 'True', 'Serving']);
  const wide = await table('catalogs', '--output=wide');
  expect(wide.head.slice(2)).toEqual(['AGE', 'IMAGE', 'PACKAGES', 'READY', 'REASON', 'MESSAGE']);
  expect(wide.row.slice(3)).toEqual([image.ref, '3', 'True', 'Serving', 'all is well']);
});

const available = {
  name: 'shop.v1.3.0',
  version: '1.3.0',
  catalog: 'c',
  reason: 'VersionNotAllowed',
  message: 'why',
};

test('an Operator prints its columns', async () => {
  await create('operators.operatorframework.io/v1alpha1', 'Operator', { packageName: 'shop' });
  await setStatus('operators.operators.operatorframework.io', {
    installed: { name: 'shop.v1.2.0', version: '1.2.0' },
    available,
    conditions: [condition('Ready True Installed', 'all is well')],
  });
  const { head, row } = await table('operators.operators.operatorframework.io');
  expect(head).toEqual(['NAME', 'AGE', 'INSTALLED', 'AVAILABLE', 'READY', 'REASON']);
  expect(row.slice(2)).toEqual(['1.2.0', '1.3.0', 'True', 'Installed']);
  const wide = await table('operators.operators.operatorframework.io', '--output=wide');
  expect(wide.head.slice(2, 5)).toEqual(['PACKAGE', 'INSTALLED', 'AVAILABLE']);
  expect(wide.row.slice(2)).toEqual(['shop', '1.2.0', '1.3.0', 'True', 'Installed', 'all is well']);
});

test('a ClusterCatalog prints its columns', async () => {
  const image = { ref: 'example.com/catalog:v1' };
  const spec = { source: { type: 'Image', image }, priority: -5 };
  await create('olm.operatorframework.io/v1', 'ClusterCatalog', spec);
  await setStatus('clustercatalog', {
    lastUnpacked: transition,
    packages: 3,
    conditions: [
      condition('Serving True Available', ''),
      condition('Ready False Retrying', 'no route'),
    ],
  });
  const { head, row } = await table('clustercatalogs');
  expect(head).toEqual(['NAME', 'LASTUNPACKED', 'SERVING', 'AGE', 'READY', 'REASON']);
  expect([row[2], ...row.slice(4)]).toEqual(['True', 'False', 'Retrying']);
  const wide = await table('clustercatalogs', '--output=wide');
  expect(wide.head.slice(4, 7)).toEqual(['IMAGE', 'PRIORITY', 'PACKAGES']);
  expect(wide.row.slice(4)).toEqual([image.ref, '-5', '3', 'False', 'Retrying', 'no route']);
});

test('a ClusterExtension prints its columns', async () => {
  const catalog = { packageName: 'shop' };
  const spec = { namespace: 'shop', source: { sourceType: 'Catalog', catalog } };
  await create('olm.operatorframework.io/v1', 'ClusterExtension', spec);
  await setStatus('clusterextension', {
    install: { bundle: { name: 'shop.v1.2.0', version: '1.2.0+1', release: '1' } },
    available,
    conditions: [
      condition('Installed True Succeeded', ''),
      condition('Progressing False Blocked', ''),
      condition('Ready False Blocked', 'a CRD loses a field'),
    ],
  });
  const { head, row } = await table('clusterextensions');
  const theirs = ['NAME', 'INSTALLED BUNDLE', 'VERSION', 'INSTALLED', 'PROGRESSING', 'AGE'];
  expect(head).toEqual([...theirs, 'AVAILABLE', 'READY', 'REASON']);
  expect(row.slice(1, 5)).toEqual(['shop.v1.2.0', '1.2.0+1', 'True', 'False']);
  expect(row.slice(6)).toEqual(['1.3.0', 'False', 'Blocked']);
  const wide = await table('clusterextensions', '--output=wide');
  expect(wide.head.slice(6, 8)).toEqual(['PACKAGE', 'AVAILABLE']);
  expect(wide.row.slice(6)).toEqual(['shop', '1.3.0', 'False', 'Blocked', 'a CRD loses a field']);
});

/** Of type, status and reason, separated by blanks. */
function condition(text: string, message: string): object {
  const [type, status, reason] = text.split(' ');
  return { type, status, reason, message, lastTransitionTime: transition };
}

async function create(apiVersion: string, kind: string, spec: object): Promise<void> {
  const object = { apiVersion, kind, metadata: { name }, spec };
  await kubectl.must(['create', '-f', '-'], JSON.stringify(object));
}

async function setStatus(kind: string, status: object): Promise<void> {
  await kubectl.must([
    'patch',
    kind,
    name,
    '--subresource=status',
    '--type=merge',
    `--patch=${JSON.stringify({ status })}`,
  ]);
}

/** What `kubectl get` prints: cells of the header and of the row. */
async function table(
  kind: string,
  ...flags: string[]
): Promise<{ readonly head: string[]; readonly row: string[] }> {
  const text = await kubectl.must(['get', kind, name, ...flags]);
  const [head = [], row = []] = text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {2,}/));
  return { head, row };
}

/** Paths of fields without a description, below metadata excepted. */
function undescribed(schema: unknown, path = ''): readonly string[] {
  const properties = Object.entries(mapOf(fieldAt(schema, 'properties')));
  const own = properties.flatMap(([field, of]) => {
    const here = `${path}.${field}`;
    const { description } = mapOf(of);
    const missing = typeof description === 'string' && description !== '' ? [] : [here];
    return here === '.metadata' ? missing : [...missing, ...undescribed(of, here)];
  });
  const inner = [fieldAt(schema, 'items'), ...listOf(fieldAt(schema, 'allOf'))].filter(isMap);
  return [...own, ...inner.flatMap((of) => undescribed(of, path))];
}
