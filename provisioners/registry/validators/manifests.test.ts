import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import { anObject, aRegistryBundle, messageOf } from '../../../test/helpers/registry-bundle.ts';
import { supportedKinds } from '../bundle/kinds.ts';
import {
  distinctWhenMoved,
  onlySupportedKinds,
  servedCrdVersion,
  uniqueCrds,
} from './manifests.ts';

describe('uniqueCrds', () => {
  const crd = anObject('CustomResourceDefinition', { name: 'a.b' });

  it('refuses two of one name, unless they are the same', () => {
    const other = { ...crd, spec: { scope: 'Cluster', big: 1n } };
    expect(messageOf(uniqueCrds(aRegistryBundle({ crds: [crd, { ...crd }] })))).toBeUndefined();
    expect(messageOf(uniqueCrds(aRegistryBundle({ crds: [crd, other] })))).toBe(
      "bundle contains duplicate custom resource definition 'a.b'; keep one of them in manifests/",
    );
  });
});

describe('distinctWhenMoved', () => {
  const complaintOf = (...others: readonly KubernetesObject[]) =>
    messageOf(distinctWhenMoved(aRegistryBundle({ others }), anInstallation()));
  const settings = (namespace: string | undefined, level: string, kind = 'ConfigMap') => ({
    ...anObject(kind, { name: 'settings', ...(namespace === undefined ? {} : { namespace }) }),
    data: { level },
  });

  it('refuses two that differ, of which the install namespace would have one', () => {
    expect(complaintOf(settings('a', 'info'), settings('b', 'debug'))).toBe(
      "bundle contains ConfigMap 'a/settings' and a different ConfigMap 'b/settings', which become one object when core moves them to the install namespace; rename one of them in manifests/, or remove it",
    );
    expect(complaintOf(settings(undefined, 'info'), settings('b', 'debug'))).toContain(
      "ConfigMap 'settings' and a different ConfigMap 'b/settings'",
    );
    const third = settings('c', 'info');
    expect(complaintOf(settings('a', 'info'), third, settings('b', 'debug'))).toContain(
      "ConfigMap 'a/settings' and a different ConfigMap 'b/settings'",
    );
  });

  it('accepts equal ones, and those that stay apart', () => {
    expect(complaintOf(settings('a', 'info'), settings('b', 'info'))).toBeUndefined();
    expect(complaintOf(settings('a', 'info'), settings('b', 'debug', 'Secret'))).toBeUndefined();
    const cluster = ['a', 'b'].map((each) => settings(each, each, 'ClusterRole'));
    expect(complaintOf(...cluster)).toBeUndefined();
  });

  it('accepts one that is written twice: the last one counts, as with kubectl', () => {
    const [first, last] = [settings('a', 'info'), settings('a', 'debug')];
    expect(complaintOf(first, last)).toBeUndefined();
    expect(complaintOf({ ...first, apiVersion: '' }, last)).toBeUndefined();
    expect(complaintOf(first, last, settings('b', 'debug'))).toBeUndefined();
    expect(complaintOf(first, last, settings('b', 'info'))).toContain("'a/settings'");
  });

  it('accepts samples, which core omits', () => {
    const spec = {
      group: 'example.com',
      names: { kind: 'Role' },
      versions: [
        { name: 'v1', schema: { openAPIV3Schema: { type: 'object', required: ['spec'] } } },
      ],
    };
    const crds = [{ ...anObject('CustomResourceDefinition', { name: 'roles.example.com' }), spec }];
    const role = (namespace: string, fields = {}) => ({
      ...settings(namespace, namespace, 'Role'),
      apiVersion: 'example.com/v1',
      ...fields,
    });
    const ofSamples = (...others: readonly KubernetesObject[]) =>
      messageOf(distinctWhenMoved(aRegistryBundle({ crds, others }), anInstallation()));
    expect(ofSamples(role('a'), role('b'))).toBeUndefined();
    expect(ofSamples(role('a', { spec: {} }), role('b'))).toContain("'a/settings'");
  });

  it('leaves objects without a name to the API server', () => {
    const nameless = ['a', 'b'].map((namespace) => anObject('Secret', { namespace }));
    expect(complaintOf(...nameless, { ...anObject('Secret'), metadata: 7 as never })).toBe(
      undefined,
    );
  });
});

describe('onlySupportedKinds', () => {
  it.each([...supportedKinds.keys()])('accepts %s of any group', (kind) => {
    const foreign = { ...anObject(kind), apiVersion: 'example.com/v7' };
    expect(messageOf(onlySupportedKinds(aRegistryBundle({ others: [foreign] })))).toBeUndefined();
  });

  it.each(['Deployment', 'Namespace', 'List', 'secret', 'podmonitor', '__proto__'])(
    'refuses %s',
    (kind) => {
      const others = [anObject('Secret'), anObject(kind, { name: 'web' }), anObject('Pod')];
      expect(messageOf(onlySupportedKinds(aRegistryBundle({ others })))).toBe(
        `bundle contains unsupported resource: Name: web, Kind: ${kind}`,
      );
    },
  );

  it('reads odd metadata as no name', () => {
    for (const metadata of [undefined, null, 7, ['a'], { name: 7 }]) {
      const others = [{ apiVersion: 'v1', kind: 'Pod', metadata } as never];
      expect(messageOf(onlySupportedKinds(aRegistryBundle({ others })))).toBe(
        'bundle contains unsupported resource: Name: , Kind: Pod',
      );
    }
  });
});

describe('servedCrdVersion', () => {
  function complaintOf(...apiVersions: readonly string[]): string | undefined {
    const crds = apiVersions.map((apiVersion, index) => ({
      ...anObject('CustomResourceDefinition', { name: `c${index}.example.com` }),
      apiVersion,
    }));
    return messageOf(servedCrdVersion(aRegistryBundle({ crds })));
  }
  const old = 'apiextensions.k8s.io/v1beta1';
  const wayOut =
    'take a later version of the operator, or have its CRDs rewritten for apiextensions.k8s.io/v1';

  it('accepts CRDs of v1', () => {
    expect(complaintOf('apiextensions.k8s.io/v1')).toBeUndefined();
    expect(complaintOf()).toBeUndefined();
  });

  it('names those of v1beta1', () => {
    expect(complaintOf('apiextensions.k8s.io/v1', old)).toBe(
      `bundle contains CustomResourceDefinitions that no cluster since Kubernetes 1.22 takes: c1.example.com is of ${old}; ${wayOut}`,
    );
    expect(complaintOf(...Array.from({ length: 7 }, () => old))).toBe(
      `bundle contains CustomResourceDefinitions that no cluster since Kubernetes 1.22 takes: c0.example.com, c1.example.com, c2.example.com, c3.example.com, c4.example.com and 2 more are of ${old}; ${wayOut}`,
    );
  });
});
