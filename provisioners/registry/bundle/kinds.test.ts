import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../core/sdk.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { scopeOf } from './kinds.ts';

function aCrd(spec: object): KubernetesObject {
  return { ...anObject('CustomResourceDefinition'), spec };
}

describe('scopeOf', () => {
  const role = { ...anObject('Role'), apiVersion: 'iam.example.com/v1' };

  it('is that of the kind, in the groups of others too', () => {
    expect(scopeOf(anObject('Role'), [])).toBe('Namespaced');
    expect(scopeOf(role, [])).toBe('Namespaced');
    expect(scopeOf(anObject('NetworkPolicy'), [])).toBe('Namespaced');
    expect(scopeOf(anObject('PodMonitor'), [])).toBe('Namespaced');
    expect(scopeOf(anObject('ConsolePlugin'), [])).toBe('Cluster');
    expect(scopeOf(anObject('Pod'), [])).toBeUndefined();
  });

  it("is that of the bundle's own CRD for a custom resource of a kind's name", () => {
    const names = { kind: 'Role', plural: 'roles' };
    const crd = aCrd({ group: 'iam.example.com', names, scope: 'Cluster' });
    expect(scopeOf(role, [crd])).toBe('Cluster');
    const core = { ...role, apiVersion: 'rbac.authorization.k8s.io/v1' };
    expect(scopeOf(core, [crd])).toBe('Namespaced');
    const link = { ...anObject('ConsoleLink'), apiVersion: 'a.example.com/v1' };
    const ofLinks = aCrd({
      group: 'a.example.com',
      names: { kind: 'ConsoleLink' },
      scope: 'Namespaced',
    });
    expect(scopeOf(link, [ofLinks])).toBe('Namespaced');
  });

  it('survives CRDs that are none', () => {
    const crds = [anObject('CustomResourceDefinition'), aCrd([]), aCrd({ names: null })];
    expect(scopeOf(role, crds)).toBe('Namespaced');
  });
});
