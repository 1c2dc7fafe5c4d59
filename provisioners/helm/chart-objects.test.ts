import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../core/sdk.ts';
import { chartObjects } from './chart-objects.ts';
import type { HelmConfig } from './config.ts';
import type { RenderedChart, RenderedHook } from './engine/chart-engine.ts';

const nothing: RenderedChart = {
  crds: [],
  manifests: [],
  hooks: [],
  notes: 'Thank you',
  warnings: [],
};
const path = 'web/templates/web.yaml';

function aManifest(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
}

function aHook(changes: Partial<RenderedHook>): RenderedHook {
  const text = aManifest('hook');
  const events = ['pre-install'] as const;
  return {
    path,
    text,
    kind: 'ConfigMap',
    name: 'hook',
    events,
    weight: 0,
    deletePolicies: [],
    ...changes,
  };
}

function objectsOf(
  chart: Partial<RenderedChart>,
  config: Partial<HelmConfig> = {},
  maxObjects = 10,
): readonly KubernetesObject[] {
  return chartObjects({ ...nothing, ...chart }, { crds: 'Upgrade', ...config }, maxObjects);
}

describe('the objects of a chart', () => {
  it('are those of its manifests, lists flattened, empty documents and notes left out', () => {
    const list = 'apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: b}}]\n';
    const texts = [aManifest('a'), list, '# nothing\n'];
    const manifests = texts.map((text) => ({ path, text }));
    expect(objectsOf({ manifests })).toEqual(
      ['a', 'b'].map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })),
    );
  });

  it('go to the namespace of the release where they have none', () => {
    const there = 'apiVersion: v1\nkind: Secret\nmetadata: {name: b, namespace: there}\n';
    const manifests = [aManifest('a'), there].map((text) => ({ path, text }));
    const namespaces = objectsOf({ manifests }, { releaseNamespace: 'shop' }).map(
      ({ metadata }) => metadata.namespace,
    );
    expect(namespaces).toEqual(['shop', 'there']);
  });

  it.each([
    ['Upgrade', { 'core.rukpak.io/keep': 'true' }],
    [
      'Replace',
      { 'core.rukpak.io/keep': 'true', 'core.rukpak.io/safe-crd-upgrade-validation': 'false' },
    ],
  ] as const)('of crds/ are kept, under policy %s', (crds, annotations) => {
    const text =
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a, annotations: {b: c}}\n';
    const [object] = objectsOf({ crds: [{ path: 'crds/a.yaml', text }] }, { crds });
    expect(object?.metadata.annotations).toEqual({ b: 'c', ...annotations });
  });

  it('leave crds/ out where they are to be skipped', () => {
    const file = { path, text: aManifest('a') };
    expect(objectsOf({ crds: [file], manifests: [file] }, { crds: 'Skip' })).toHaveLength(1);
  });

  it("tell of hooks in core's words", () => {
    const [plain, all] = objectsOf({
      hooks: [
        aHook({ events: ['pre-install', 'pre-rollback', 'test'], weight: -5 }),
        aHook({
          events: ['post-upgrade', 'pre-delete'],
          deletePolicies: ['hook-succeeded', 'hook-failed'],
        }),
        aHook({ events: ['test'] }),
        aHook({ events: ['pre-rollback', 'post-rollback'] }),
      ],
    }).map(({ metadata }) => metadata.annotations);
    expect(plain).toEqual({
      'core.rukpak.io/hook': 'pre-install',
      'core.rukpak.io/hook-weight': '-5',
      'core.rukpak.io/hook-delete-policy': 'before-hook-creation',
    });
    expect(all).toEqual({
      'core.rukpak.io/hook': 'post-upgrade,pre-delete',
      'core.rukpak.io/hook-weight': '0',
      'core.rukpak.io/hook-delete-policy': 'hook-succeeded,hook-failed',
    });
    expect(() => objectsOf({ hooks: [aHook({ events: ['test'] })] })).toThrow('renders no objects');
  });

  it('pass over policies of hooks that there are not, as Helm does', () => {
    const policies = (...deletePolicies: readonly string[]) =>
      objectsOf({
        hooks: [aHook({ deletePolicies: deletePolicies as RenderedHook['deletePolicies'] })],
      })[0]?.metadata.annotations?.['core.rukpak.io/hook-delete-policy'];
    expect(policies('hook-succeded', 'hook-failed')).toBe('hook-failed');
    expect(policies('hook-succeded')).toBe('before-hook-creation');
  });

  it.each([
    ['a: secret', `template ${path} renders an object without kind`],
    ['kind: A\nmetadata: {name: b}', `template ${path} renders A "b" without apiVersion`],
    [
      'apiVersion: v1\nkind: A',
      `template ${path} renders an object of kind A without metadata.name`,
    ],
    ['a: [', `error parsing ${path}: error converting YAML to JSON: yaml: line 2: `],
  ])('of the template that renders %j are refused', (text, message) => {
    expect(() => objectsOf({ manifests: [{ path, text }] })).toThrow(message);
  });

  it('are limited in number, and not empty', () => {
    const manifests = Array.from({ length: 3 }, (_, i) => ({ path, text: aManifest(`a${i}`) }));
    expect(() => objectsOf({ manifests }, {}, 2)).toThrow(
      'the chart renders more than 2 objects (--max-content-entries): split it',
    );
    expect(() => objectsOf({})).toThrow(
      'the chart renders no objects with these values: set those that enable something in spec.config.values, or delete the BundleDeployment',
    );
  });
});
