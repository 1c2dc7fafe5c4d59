import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
} from '../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment, aTemplate } from '../../test/helpers/stored-objects.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import { ApiError } from '../platform/kube/index.ts';

const mark = { [annotation.configured]: 'true' };
/** Annotation of every new Bundle whose content is not pinned yet. */
const unresolved = { [annotation.pin]: '' };
const config = { watchNamespace: 'a' };
const adapting: Partial<Provisioner> = { configure: async (files) => files };

interface Options {
  readonly config?: object | undefined;
  readonly annotations?: Record<string, string>;
  readonly bundleClass?: Partial<Provisioner>;
}

const others = (aBundleOf().metadata.ownerReferences ?? []).map((owner) => ({
  ...owner,
  name: 'other',
  uid: 'other',
}));

function aFixture(options: Options = {}) {
  const { annotations, bundleClass = adapting } = options;
  const given = 'config' in options ? options.config : config;
  const template = aTemplate('example.com/app:v1', annotations && { annotations });
  const deployment = aStoredDeployment({ template });
  const spec = { ...deployment.spec, config: given } as BundleDeployment['spec'];
  const className = template.spec.provisionerClassName;
  const bundleClasses = new Map([[className, { className, ...bundleClass }]]);
  return new BundleDeploymentFixture({ ...deployment, spec }, { bundleClasses });
}

function annotationsOf(fixture: BundleDeploymentFixture): Bundle['metadata']['annotations'] {
  return fixture.client.peek({ name: nameOf() })?.metadata.annotations;
}

describe('a new Bundle', () => {
  test('is marked where there is a config', async () => {
    const fixture = aFixture();
    await fixture.reconcile();
    expect(annotationsOf(fixture)).toEqual({ ...mark, ...unresolved });
    expect(fixture.client.count('create')).toBe(1);
    expect(fixture.client.patches.map(({ options }) => options.subresource)).toEqual(['status']);
  });

  test('keeps the annotations of the template besides', async () => {
    const fixture = aFixture({ annotations: { note: 'y' } });
    await fixture.reconcile();
    const [bundle] = fixture.bundles.list();
    expect(bundle?.metadata.annotations).toEqual({ note: 'y', ...mark, ...unresolved });
  });

  test.each<[string, Options]>([
    ['without a config', { config: undefined, annotations: { ...mark, [annotation.pin]: 'x' } }],
    ['of a class that adapts nothing', { bundleClass: {}, annotations: mark }],
  ])('is not %s, whatever its template says', async (_, options) => {
    const fixture = aFixture(options);
    await fixture.reconcile();
    const [bundle] = fixture.bundles.list();
    expect(bundle?.metadata.annotations).toEqual(unresolved);
  });

  test('has no other mark than the true one', async () => {
    const fixture = aFixture({ annotations: { [annotation.configured]: 'false' } });
    await fixture.reconcile();
    expect(fixture.bundles.list()[0]?.metadata.annotations).toEqual({ ...mark, ...unresolved });
  });
});

describe('a Bundle that is there', () => {
  const failing = { phase: 'Failing' } as const;

  /** Deployment `demo`, whose Bundle was created before its config was set, or while it was set. */
  function withBundle(bundle: Bundle, options: Options = {}): BundleDeploymentFixture {
    const fixture = aFixture(options);
    fixture.have(bundle);
    return fixture;
  }

  function metadataPatches({ client }: BundleDeploymentFixture) {
    return client.patches.filter(({ options }) => options.subresource === undefined);
  }

  test('is marked when a config comes, by one request', async () => {
    const fixture = withBundle(aBundleOf(undefined, failing, { annotations: { note: 'y' } }));
    await fixture.reconcile();
    await fixture.reconcile();
    expect(annotationsOf(fixture)).toEqual({ note: 'y', ...mark });
    expect(metadataPatches(fixture)).toHaveLength(1);
    expect(fixture.bundles.get({ name: nameOf() })?.metadata.annotations).toMatchObject(mark);
  });

  test('loses the mark when the config goes', async () => {
    const fixture = withBundle(aBundleOf(undefined, undefined, { annotations: { ...mark } }));
    await fixture.reconcile();
    expect(metadataPatches(fixture)).toEqual([]);
    const { config: _, ...spec } = fixture.live.spec;
    fixture.change({ ...fixture.live, spec });
    await fixture.reconcile();
    expect(annotationsOf(fixture)).toEqual({});
    expect(metadataPatches(fixture)).toHaveLength(1);
  });

  test.each<[string, Bundle, Options]>([
    ['is right already', aBundleOf(undefined, undefined, { annotations: mark }), {}],
    ['needs none', aBundleOf(), { config: undefined }],
    ['is of a class that adapts nothing', aBundleOf(), { bundleClass: {} }],
    ['is somebody else’s', aBundleOf(undefined, undefined, { ownerReferences: others }), {}],
    [
      'is being deleted',
      aBundleOf(undefined, undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      {},
    ],
  ])('costs no request where it %s', async (_, bundle, options) => {
    const fixture = withBundle(bundle, options);
    await fixture.reconcile();
    expect(metadataPatches(fixture)).toEqual([]);
  });

  test.each([404, 409])('is left to the cache’s news where it is gone (%i)', async (code) => {
    const fixture = withBundle(aBundleOf());
    fixture.client.faults.patch = [new ApiError(code, { reason: 'Conflict' })];
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.applier.apply).toHaveBeenCalled();
  });

  test('that cannot be marked says so', async () => {
    const fixture = withBundle(aBundleOf());
    fixture.client.faults.patch = [new ApiError(403, { message: 'may not patch' })];
    expect(await fixture.failure()).toBeInstanceOf(ApiError);
    expect(fixture.conditions).toEqual(['HasValidBundle Unknown ReconcileFailed: may not patch']);
  });
});
