import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  anObject,
  aRegistryBundle,
  aServer,
  aStrategyDeployment,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import type { ClusterServiceVersion } from '../bundle/cluster-service-version.ts';
import { supportedKinds } from '../bundle/kinds.ts';
import { planInstallation } from '../installation.ts';
import { namespace, otherObjects } from './other-objects.ts';

const inNs = anInstallation({ installNamespace: 'ns' });

describe('namespace', () => {
  it('is the install namespace and nothing else', () => {
    expect(namespace(aRegistryBundle(), inNs)).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' } },
    ]);
  });

  it("is left alone where it is the user's", () => {
    expect(namespace(aRegistryBundle(), anInstallation({ createsNamespace: false }))).toEqual([]);
  });
});

describe('otherObjects', () => {
  it('move namespaced kinds to the install namespace, whatever was written', () => {
    for (const [kind, scope] of supportedKinds) {
      const written = anObject(kind, { name: 'x', namespace: 'elsewhere', labels: { a: 'b' } });
      const [object] = otherObjects(aRegistryBundle({ others: [written] }), inNs);
      const namespace = scope === 'Namespaced' ? 'ns' : 'elsewhere';
      expect(object).toEqual({ ...written, metadata: { ...written.metadata, namespace } });
    }
  });

  it('leave the namespace of a VerticalPodAutoscaler and of role binding subjects', () => {
    expect(supportedKinds.get('VerticalPodAutoscaler')).toBe('Cluster');
    const subjects = [{ kind: 'ServiceAccount', name: 'a', namespace: 'elsewhere' }];
    const binding = { ...anObject('RoleBinding'), subjects };
    expect(otherObjects(aRegistryBundle({ others: [binding] }), inNs)[0]).toMatchObject({
      subjects,
    });
  });

  it('survive metadata that is no map', () => {
    for (const metadata of [undefined, null, 7, 'text', ['a']]) {
      const others = [{ apiVersion: 'v1', kind: 'Secret', metadata } as never];
      expect(otherObjects(aRegistryBundle({ others }), inNs)[0]?.metadata).toEqual({
        namespace: 'ns',
      });
    }
  });
});

function apiVersionOf(apiVersion: string, kind: string): string | undefined {
  const bundle = aRegistryBundle({ others: [{ apiVersion, kind, metadata: { name: 'x' } }] });
  return otherObjects(bundle, planInstallation(bundle))[0]?.apiVersion;
}

it('gives kinds that OLM knows by name the API that they are of, where none is written', () => {
  expect(apiVersionOf('', 'ClusterRole')).toBe('rbac.authorization.k8s.io/v1');
  expect(apiVersionOf('', 'RoleBinding')).toBe('rbac.authorization.k8s.io/v1');
  expect(apiVersionOf('', 'ConfigMap')).toBe('v1');
  expect(apiVersionOf('', 'ServiceMonitor')).toBe('');
});

it('writes roles in the version that is left of their API, which has the same fields', () => {
  expect(apiVersionOf('rbac.authorization.k8s.io/v1beta1', 'Role')).toBe(
    'rbac.authorization.k8s.io/v1',
  );
  expect(apiVersionOf('rbac.authorization.k8s.io/v1alpha1', 'ClusterRole')).toBe(
    'rbac.authorization.k8s.io/v1',
  );
});

it('writes priority classes and disruption budgets in the version that is left of theirs', () => {
  expect(apiVersionOf('scheduling.k8s.io/v1beta1', 'PriorityClass')).toBe('scheduling.k8s.io/v1');
  const budget = (selector: object) => {
    const object = anObject('PodDisruptionBudget');
    const others = [{ ...object, apiVersion: 'policy/v1beta1', spec: { selector } }];
    const bundle = aRegistryBundle({ others });
    return otherObjects(bundle, planInstallation(bundle))[0]?.apiVersion;
  };
  expect(budget({ matchLabels: { app: 'x' } })).toBe('policy/v1');
  // Selects no Pod in the one version, and all of them in the other.
  expect(budget({})).toBe('policy/v1beta1');
});

it("leaves other groups' kinds of the same name alone", () => {
  expect(apiVersionOf('iam.services.k8s.aws/v1alpha1', 'Role')).toBe(
    'iam.services.k8s.aws/v1alpha1',
  );
  expect(apiVersionOf('authorization.openshift.io/v1', 'RoleBinding')).toBe(
    'authorization.openshift.io/v1',
  );
});

describe('bindings that a bundle ships', () => {
  const binding = (...subjects: readonly object[]): KubernetesObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'x' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' },
    ...({ subjects } as object),
  });
  const account = (name: string, namespace: string) => ({
    kind: 'ServiceAccount',
    name,
    namespace,
  });
  const shipped: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'agent' },
  };

  function subjectsOf(object: KubernetesObject, configured = true): unknown {
    const csv = aCsv({ permissions: [{ serviceAccountName: 'operator', rules: [] }] });
    const bundle = aRegistryBundle({ csv, others: [shipped, object] });
    const installation = anInstallation({ installNamespace: 'here', configured });
    return otherObjects(bundle, installation)[1]?.['subjects'];
  }

  it("bind the bundle's own accounts where they are", () => {
    const written = [account('operator', 'pkg-system'), account('agent', 'pkg-system')];
    expect(subjectsOf(binding(...written))).toEqual([
      ...written,
      account('operator', 'here'),
      account('agent', 'here'),
    ]);
  });

  it('name each of them once', () => {
    const written = [account('agent', 'one'), account('agent', 'two')];
    expect(subjectsOf(binding(...written))).toEqual([...written, account('agent', 'here')]);
    const right = [account('agent', 'one'), account('agent', 'here')];
    expect(subjectsOf(binding(...right))).toEqual(right);
  });

  it('bind the account default where the CSV uses it, and only there', () => {
    const written = [account('default', 'pkg-system')];
    const others = [binding(...written)];
    const installation = anInstallation({ installNamespace: 'here', configured: true });
    const subjectsWith = (csv: Partial<ClusterServiceVersion>) =>
      otherObjects(aRegistryBundle({ csv: aCsv(csv), others }), installation)[0]?.['subjects'];
    const both = [...written, account('default', 'here')];
    expect(subjectsWith({ deployments: [aStrategyDeployment()] })).toEqual(both);
    const permissions = [{ serviceAccountName: 'default', rules: [] }];
    expect(subjectsWith({ permissions })).toEqual(both);
    const deployments = [aStrategyDeployment({ serviceAccountName: 'operator' })];
    expect(subjectsWith({ deployments })).toEqual(written);
  });

  it('are left as written where they name others', () => {
    const written = [
      account('prometheus-k8s', 'openshift-monitoring'),
      { kind: 'Group', name: 'agent', apiGroup: 'rbac.authorization.k8s.io' },
    ];
    expect(subjectsOf(binding(...written))).toEqual(written);
    expect(subjectsOf({ ...binding(), subjects: 'none' })).toBe('none');
  });

  it('are left as written without a spec.config, as by v0.16', () => {
    const written = [account('agent', 'pkg-system')];
    expect(subjectsOf(binding(...written), false)).toEqual(written);
  });

  it("are not those of another group's kind of that name", () => {
    const written = [account('agent', 'elsewhere')];
    const foreign = { ...binding(...written), apiVersion: 'iam.example.com/v1' };
    expect(subjectsOf(foreign)).toEqual(written);
    const ofOpenShift = { ...foreign, apiVersion: 'authorization.openshift.io/v1' };
    expect(subjectsOf(ofOpenShift)).toEqual([...written, account('agent', 'here')]);
  });
});

it.each(['v1', ''])(
  'ships no Secret of version %j in the place of one with a certificate',
  (own) => {
    const secret = { ...anObject('Secret', { name: 'web-service-cert' }), apiVersion: own };
    const other = { ...secret, metadata: { name: 'another' } };
    const foreign = { ...secret, apiVersion: 'secrets.example.com/v1' };
    const bundle = aServer({ webhookDefinitions: [aWebhook()] }, ['web', 'idle'], {
      others: [secret, other, { ...secret, metadata: { name: 'idle-service-cert' } }, foreign],
    });
    const names = otherObjects(bundle, anInstallation()).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['another', 'idle-service-cert', 'web-service-cert']);
  },
);

it('are optional where they are for monitoring or a console, unless their CRD comes with them', () => {
  const isOptional = (apiVersion: string, crds: readonly KubernetesObject[] = [], own = {}) => {
    const others = [
      { apiVersion, kind: 'ServiceMonitor', metadata: { name: 'x', annotations: own } },
    ];
    const bundle = aRegistryBundle({ others, crds });
    const [object] = otherObjects(bundle, planInstallation(bundle));
    return object?.metadata.annotations?.['core.rukpak.io/optional'];
  };
  expect(isOptional('monitoring.coreos.com/v1')).toBe('true');
  expect(isOptional('example.com/v1')).toBeUndefined();
  expect(isOptional('monitoring.coreos.com/v1', [], { 'core.rukpak.io/optional': 'false' })).toBe(
    'false',
  );
  const crd = { ...anObject('CustomResourceDefinition'), spec: { group: 'monitoring.coreos.com' } };
  expect(isOptional('monitoring.coreos.com/v1', [crd])).toBeUndefined();
});
