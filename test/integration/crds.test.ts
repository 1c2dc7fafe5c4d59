import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
// A class that nothing serves: what the tests create stays as it was sent.
const provisionerClassName = 'crds-test';

beforeAll(async () => await installCrds(plane.kubeconfig));

interface Fields {
  readonly metadata?: object;
  readonly spec?: object;
}

function aBundle(name: string, { metadata, spec }: Fields = {}): object {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name, ...metadata },
    spec: { provisionerClassName, source: { type: 'image', image: { ref: 'x' } }, ...spec },
  };
}

function aBundleDeployment(name: string, { metadata, spec }: Fields = {}): object {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name, ...metadata },
    spec: {
      provisionerClassName,
      template: {
        spec: { provisionerClassName, source: { type: 'image', image: { ref: 'x' } } },
      },
      ...spec,
    },
  };
}

async function create(object: object, ...flags: string[]) {
  return kubectl.run(['create', ...flags, '-f', '-'], JSON.stringify(object));
}

async function createForTest(kind: string, name: string, object: object): Promise<void> {
  onTestFinished(
    async () => void (await kubectl.run(['delete', kind, name, '--ignore-not-found'])),
  );
  await kubectl.must(['create', '--validate=false', '-f', '-'], JSON.stringify(object));
}

function source(source: object): Fields {
  return { spec: { source } };
}

const git = { repository: 'https://example.com/r' };
const oneOf = 'must validate one and only one schema (oneOf).';

test.each<[what: string, object: object, text: string]>([
  [
    'a Bundle with two sources',
    aBundle('crds-x', source({ type: 'image', image: { ref: 'x' }, upload: {} })),
    `"spec.source" ${oneOf} Found 2 valid alternatives`,
  ],
  [
    'a Bundle without a source block',
    aBundle('crds-x', source({ type: 'image' })),
    `"spec.source" ${oneOf} Found none valid`,
  ],
  [
    'a git source without a revision',
    aBundle('crds-x', source({ type: 'git', git: { ...git, ref: {} } })),
    `"spec.source.git.ref" ${oneOf} Found none valid`,
  ],
  [
    'a git source with two revisions',
    aBundle('crds-x', source({ type: 'git', git: { ...git, ref: { branch: 'a', tag: 'b' } } })),
    `"spec.source.git.ref" ${oneOf} Found 2 valid alternatives`,
  ],
  [
    'a class name with a slash',
    aBundle('crds-x', { spec: { provisionerClassName: 'invalid/class' } }),
    `spec.provisionerClassName: Invalid value: "invalid/class": spec.provisionerClassName in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'`,
  ],
  [
    'a class name with a dot in a template',
    aBundleDeployment('crds-x', {
      spec: {
        template: {
          spec: { provisionerClassName: 'a.b', source: { type: 'upload', upload: {} } },
        },
      },
    }),
    `spec.template.spec.provisionerClassName in body should match`,
  ],
  [
    'a Bundle name of 53 characters',
    aBundle('a'.repeat(53)),
    'metadata.name: Too long: may not be more than 52 bytes',
  ],
  [
    'a BundleDeployment name of 46 characters',
    aBundleDeployment('a'.repeat(46)),
    'metadata.name: Too long: may not be more than 45 bytes',
  ],
  [
    'a Bundle without spec',
    { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'Bundle', metadata: { name: 'crds-x' } },
    'spec: Required value',
  ],
  [
    'a BundleDeployment without spec',
    {
      apiVersion: 'core.rukpak.io/v1alpha1',
      kind: 'BundleDeployment',
      metadata: { name: 'crds-x' },
    },
    'spec: Required value',
  ],
  [
    'an image without a reference',
    aBundle('crds-x', source({ type: 'image', image: {} })),
    'spec.source.image.ref: Required value',
  ],
  [
    'a ConfigMap source without its ConfigMap',
    aBundle('crds-x', source({ type: 'configMaps', configMaps: [{ path: 'p' }] })),
    'spec.source.configMaps[0].configMap: Required value',
  ],
])('%s is refused', async (_what, object, text) => {
  const { code, stderr } = await create(object, '--dry-run=server', '--validate=false');
  expect(stderr).toContain(text);
  expect(code).not.toBe(0);
});

test.each<[what: string, object: object]>([
  ['a Bundle name of 52 characters', aBundle('a'.repeat(52))],
  ['a BundleDeployment name of 45 characters', aBundleDeployment('a'.repeat(45))],
  ['an unknown source type', aBundle('crds-x', source({ type: 'oops', upload: {} }))],
  [
    'an empty repository',
    aBundle('crds-x', source({ type: 'git', git: { repository: '', ref: { tag: 't' } } })),
  ],
  [
    'a template with two sources and no revision',
    aBundleDeployment('crds-x', {
      spec: {
        template: {
          spec: {
            provisionerClassName,
            source: { type: 'git', git: { ...git, ref: {} }, image: { ref: 'x' } },
          },
        },
      },
    }),
  ],
])('%s is accepted by the schema', async (_what, object) => {
  const { stderr, code } = await create(object, '--dry-run=server');
  // Where the webhooks are installed they may have their say after the schema.
  expect(code === 0 || stderr.includes('admission webhook')).toBe(true);
});

test('unknown fields are pruned, config and the metadata of a template are preserved', async () => {
  const metadata = {
    name: 'n',
    namespace: 'ns',
    labels: { l: '1' },
    annotations: { a: '2' },
    finalizers: ['example.com/f'],
  };
  const config = { values: { deep: { list: [1, 'two', { three: null }] } }, other: true };
  const template = {
    metadata: { ...metadata, generateName: 'gone' },
    spec: {
      provisionerClassName,
      source: { type: 'image', image: { ref: 'x', gone: 1 } },
      gone: 1,
    },
  };
  const name = 'crds-prune';
  const object = aBundleDeployment(name, { spec: { template, config, gone: 1 } });
  await createForTest('bundledeployment', name, object);
  expect((await kubectl.get('bundledeployment', name))['spec']).toEqual({
    provisionerClassName,
    config,
    template: {
      metadata,
      spec: { provisionerClassName, source: { type: 'image', image: { ref: 'x' } } },
    },
  });
});

test('a Bundle prints its columns, and more of them when asked', async () => {
  const name = 'crds-columns';
  await createForTest('bundle', name, aBundle(name));
  const resolvedSource = { type: 'image', image: { ref: 'x@sha256:0' } };
  const status = { status: { phase: 'Unpacked', resolvedSource } };
  await kubectl.must([
    'patch',
    'bundle',
    name,
    '--subresource=status',
    '--type=merge',
    `--patch=${JSON.stringify(status)}`,
  ]);
  const [head, row] = await table('bundles', name);
  expect(head).toEqual(['NAME', 'TYPE', 'PHASE', 'AGE', 'READY', 'REASON']);
  expect(row?.slice(0, 3)).toEqual([name, 'image', 'Unpacked']);
  const [wideHead, wideRow] = await table('bundles', name, '--output=wide');
  const ours = ['READY', 'REASON', 'MESSAGE'];
  const theirs = ['NAME', 'TYPE', 'PHASE', 'AGE', 'PROVISIONER', 'RESOLVED SOURCE'];
  expect(wideHead).toEqual([...theirs, ...ours]);
  expect(wideRow?.[4]).toBe(provisionerClassName);
  expect(JSON.parse(wideRow?.[5] ?? '')).toEqual(resolvedSource);
});

test('a BundleDeployment has short names and prints its columns', async () => {
  const name = 'crds-columns';
  await createForTest('bundledeployment', name, aBundleDeployment(name));
  const condition = {
    type: 'Installed',
    status: 'True',
    reason: 'InstallationSucceeded',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const ready = { ...condition, type: 'Ready', reason: 'Healthy', message: 'all is well' };
  const status = { status: { activeBundle: 'b-1', conditions: [condition, ready] } };
  await kubectl.must([
    'patch',
    'bd',
    name,
    '--subresource=status',
    '--type=merge',
    `--patch=${JSON.stringify(status)}`,
  ]);
  const [head, row] = await table('bd', name);
  // RukPak's columns are where its users' scripts count them.
  expect(head).toEqual(['NAME', 'ACTIVE BUNDLE', 'INSTALL STATE', 'AGE', 'READY', 'REASON']);
  expect(row?.slice(4)).toEqual(['True', 'Healthy']);
  expect(row?.slice(0, 3)).toEqual([name, 'b-1', 'InstallationSucceeded']);
  const [wideHead, wideRow] = await table('bds', name, '--output=wide');
  expect(wideHead?.slice(4)).toEqual(['PROVISIONER', 'READY', 'REASON', 'MESSAGE']);
  expect(wideRow?.slice(4)).toEqual([provisionerClassName, 'True', 'Healthy', 'all is well']);
  await kubectl.must(['wait', '--for=condition=Ready', 'bd', name, '--timeout=300s']);
});

test('a condition that is not a metav1.Condition is refused', async () => {
  const name = 'crds-condition';
  await createForTest('bundle', name, aBundle(name));
  const condition = {
    type: 'Unpacked',
    status: 'Perhaps',
    reason: '',
    message: 'x'.repeat(32769),
    lastTransitionTime: 'yesterday',
  };
  const { stderr } = await kubectl.run([
    'patch',
    'bundle',
    name,
    '--subresource=status',
    '--type=merge',
    `--patch=${JSON.stringify({ status: { conditions: [condition] } })}`,
  ]);
  expect(stderr).toContain('status.conditions[0].status: Unsupported value: "Perhaps"');
  expect(stderr).toContain('status.conditions[0].message: Too long');
  expect(stderr).toContain('status.conditions[0].reason');
  expect(stderr).toContain('status.conditions[0].lastTransitionTime');
});

test('kubectl explain tells what a field is', async () => {
  // The API server publishes what fields are in its own time.
  await eventually(async () => {
    const text = await kubectl.must(['explain', 'bundle.spec.source.git.ref']);
    expect(text).toContain('exactly one of branch, commit and tag');
  });
});

/** What `kubectl get` prints: header and rows as lists of cells. */
async function table(kind: string, name: string, ...flags: string[]): Promise<string[][]> {
  const text = await kubectl.must(['get', kind, name, ...flags]);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {2,}/));
}
