import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { DeletionPolicy } from '../../api/v1alpha1/deployment-policies.ts';
import { ApiError } from '../../core/platform/kube/index.ts';
import type { ObjectPage } from '../crd-upgrade/custom-resources.ts';
import { type DeletionWarningOptions, deletionWarner } from './deletion-warning.ts';

interface Given {
  /** Names of kinds whose CRDs the deployment has. */
  readonly kinds?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Namespaces of the custom resources of each kind; undefined of one without. */
  readonly resources?: readonly (string | undefined)[];
  /** Of the last one of them. */
  readonly resourceAnnotations?: Readonly<Record<string, string>>;
  readonly more?: boolean;
  readonly spec?: { readonly deletionPolicy?: DeletionPolicy };
  readonly byDefault?: DeletionPolicy;
  readonly propagationPolicy?: string;
  /** More metadata of the last custom resource. */
  readonly last?: object;
  readonly fault?: Error;
  /** Whether the API server serves version v1 of the CRDs (default: true). */
  readonly served?: boolean;
  /** By default those of a deployment that core has begun to install. */
  readonly finalizers?: readonly string[];
  readonly status?: object;
}

function aCrd(kind: string, { annotations = {}, served = true }: Given): KubernetesObject {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com`, annotations },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        { name: 'v0', served: false },
        { name: 'v1', served },
      ],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  };
}

function aClient(given: Given): DeletionWarningOptions['client'] {
  const { resources = [], resourceAnnotations, last = {}, more = false, fault } = given;
  const crds = (given.kinds ?? ['Gizmo']).map((kind) => aCrd(kind, given));
  return {
    async get(_resource, { name }) {
      const found = crds.find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new Error(`no CRD ${name}`);
      return found;
    },
    async list({ kind, version }, { labelSelector, limit }): Promise<ObjectPage> {
      if (kind === 'CustomResourceDefinition') {
        expect(labelSelector).toBe(
          'core.rukpak.io/owner-kind=BundleDeployment,core.rukpak.io/owner-name=painter',
        );
        return { metadata: {}, items: crds.slice(0, limit) };
      }
      if (fault !== undefined) throw fault;
      const items = resources.map((namespace, index) => ({
        apiVersion: `example.com/${version}`,
        kind,
        metadata: {
          name: `r${index}`,
          ...(namespace !== undefined && { namespace }),
          ...(index === resources.length - 1 && {
            annotations: resourceAnnotations ?? {},
            ...last,
          }),
        },
      }));
      return { metadata: more ? { continue: 'token' } : {}, items };
    },
  };
}

async function warned(given: Given): Promise<readonly string[] | undefined> {
  const { spec = {}, byDefault: defaultDeletionPolicy = 'Delete', propagationPolicy } = given;
  const warn = deletionWarner({ client: aClient(given), defaultDeletionPolicy });
  const { finalizers = ['core.rukpak.io/delete-objects'], status } = given;
  const oldObject = { metadata: { name: 'painter', uid: 'u', finalizers }, spec, status };
  const options = propagationPolicy === undefined ? {} : { options: { propagationPolicy } };
  const request = { uid: 'r', operation: 'DELETE', oldObject, ...options } as const;
  const verdict = await warn(request, new AbortController().signal);
  expect(verdict.allowed).toBe(true);
  return verdict.warnings;
}

const three = ['walls', 'walls', 'sheds'];

test.each<[what: string, given: Given, loss: string]>([
  ['namespaced ones', { resources: three }, '3 Gizmos in 2 namespaces'],
  ['a single one', { resources: ['walls'] }, '1 Gizmo in 1 namespace'],
  ['cluster-scoped ones', { resources: [undefined, undefined] }, '2 Gizmos'],
  [
    'more than are counted',
    { resources: three, more: true },
    'more than 3 Gizmos in at least 2 namespaces',
  ],
  [
    'those of an installation of RukPak',
    { resources: three, finalizers: [], status: { activeBundle: 'painter-v1' } },
    '3 Gizmos in 2 namespaces',
  ],
  [
    'one that is annotated to be kept, and is being deleted',
    {
      resources: ['walls'],
      resourceAnnotations: { 'core.rukpak.io/keep': 'true' },
      last: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    },
    '1 Gizmo in 1 namespace',
  ],
  [
    'some of another deployment, which keep the CRD if that one stays',
    {
      resources: three,
      last: {
        labels: {
          'core.rukpak.io/owner-kind': 'BundleDeployment',
          'core.rukpak.io/owner-name': 'tenant',
        },
      },
    },
    '3 Gizmos in 2 namespaces, unless BundleDeployment tenant stays, which has some of them',
  ],
  [
    'ones that only the default of the cluster keeps',
    { resources: three, spec: { deletionPolicy: 'Delete' }, byDefault: 'KeepCRDs' },
    '3 Gizmos in 2 namespaces',
  ],
])('warns of custom resources: %s', async (_what, given, loss) => {
  expect(await warned(given)).toEqual([
    `Deleting BundleDeployment painter deletes CRD gizmos.example.com and ${loss}`,
  ]);
});

test.each<[what: string, given: Given]>([
  ['there are no custom resources', {}],
  ['no version of them is served, so that core keeps the CRD', { resources: three, served: false }],
  [
    'one of them is annotated to be kept',
    { resources: three, resourceAnnotations: { 'core.rukpak.io/keep': 'true' } },
  ],
  ['it has no CRDs', { kinds: [], resources: three }],
  ['its policy keeps CRDs', { resources: three, spec: { deletionPolicy: 'KeepCRDs' } }],
  ['its policy keeps all', { resources: three, spec: { deletionPolicy: 'Orphan' } }],
  ['the cluster keeps CRDs by default', { resources: three, byDefault: 'KeepCRDs' }],
  ['core has applied nothing of it', { resources: three, finalizers: [] }],
  ['the user keeps all', { resources: three, propagationPolicy: 'Orphan' }],
  [
    'its CRDs are annotated to be kept',
    { resources: three, annotations: { 'core.rukpak.io/keep': 'true' } },
  ],
  [
    'its CRDs are annotated as for Helm',
    { resources: three, annotations: { 'helm.sh/resource-policy': 'Keep ' } },
  ],
])('is silent where %s', async (_what, given) => {
  expect(await warned(given)).toBeUndefined();
});

test('many CRDs do not flood the terminal', async () => {
  const kinds = Array.from({ length: 12 }, (_, index) => `Gizmo${index}x`);
  const warnings = await warned({ kinds, resources: three });
  expect(warnings).toHaveLength(11);
  expect(warnings?.at(-1)).toBe('2 more CRDs of BundleDeployment painter have custom resources');
});

test('what cannot be counted is said, and lets the deployment be deleted', async () => {
  expect(await warned({ fault: new Error('gizmos is forbidden') })).toEqual([
    'the webhook cannot count all custom resources that go with BundleDeployment painter: gizmos is forbidden',
  ]);
  expect(await warned({ fault: new ApiError(404, { message: 'gone' }) })).toBeUndefined();
});
