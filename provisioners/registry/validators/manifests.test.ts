import { describe, expect, it } from 'vitest';
import { anObject, aRegistryBundle, messageOf } from '../../../test/helpers/registry-bundle.ts';
import { supportedKinds } from '../bundle/kinds.ts';
import { onlySupportedKinds, servedCrdVersion, uniqueCrds } from './manifests.ts';

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
