import { describe, expect, it } from 'vitest';
import { type ClusterFacts, WaitingError } from '../../core/sdk.ts';
import { anInstallation } from '../../test/helpers/installation.ts';
import { aCsv, anObject, aRegistryBundle } from '../../test/helpers/registry-bundle.ts';
import type { RegistryBundle } from './bundle/registry-bundle.ts';
import { convert } from './convert.ts';
import { lackOf } from './requirements.ts';

function aCluster(version = 'v1.36.3', apiVersions: readonly string[] = []) {
  return { version, apiVersions, systemNamespace: 'rukpak-system' };
}

function lackOfKinds(bundle: RegistryBundle, cluster: ClusterFacts): string | undefined {
  return lackOf(bundle, anInstallation({ cluster }));
}

describe('spec.minKubeVersion', () => {
  function lack(minKubeVersion: string, version = 'v1.36.3'): string | undefined {
    const bundle = aRegistryBundle({ csv: aCsv({ minKubeVersion }) });
    return lackOf(bundle, anInstallation({ cluster: aCluster(version) }));
  }

  it.each([
    ['', 'v1.36.3'],
    ['1.36.3', 'v1.36.3'],
    ['v1.20.0', 'v1.36.3'],
    ['1.9', 'v1.36.3'],
    ['1', 'v1.36.3'],
    ['1.19.0-0', 'v1.19.0'],
    ['1.30.0', 'v1.30.0-eks-1234567'],
    ['1.30.1', 'v1.30.1+k3s1'],
    ['1.99.0', 'of nobody knows which form'],
  ])('"%s" is met by %s', (minKubeVersion, version) => {
    expect(lack(minKubeVersion, version)).toBeUndefined();
  });

  it.each([
    ['1.36.4', 'v1.36.3'],
    ['1.37', 'v1.36.3'],
    ['2', 'v1.36.3'],
    ['1.10.0', 'v1.9.9'],
  ])('%s is not met by %s', (minKubeVersion, version) => {
    expect(lack(minKubeVersion, version)).toBe(
      `the operator needs Kubernetes ${minKubeVersion} or later (spec.minKubeVersion), and the cluster has ${version}: upgrade the cluster, or install an earlier version of the operator`,
    );
  });

  it.each(['latest', '1.x', '1.20.0.1', '>=1.20', '-1'])('"%s" is no version', (minKubeVersion) => {
    expect(lack(minKubeVersion)).toBe(
      `spec.minKubeVersion "${minKubeVersion}" of the ClusterServiceVersion is not a Kubernetes version: use one such as 1.25.0, or remove it`,
    );
  });
});

describe('kinds that others bring', () => {
  const kafka = { name: 'kafkas.kafka.strimzi.io', version: 'v1beta2', kind: 'Kafka' };
  const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
  const secret = { group: '', version: 'v1', kind: 'Secret' };
  const bundle = aRegistryBundle({
    csv: aCsv({ requiredCrds: [kafka], requiredApis: [deployment, secret] }),
  });

  it('are enough where all are served', () => {
    const served = ['apps/v1/Deployment', 'kafka.strimzi.io/v1beta2/Kafka', 'v1/Secret'];
    expect(lackOfKinds(bundle, aCluster('v1.36.3', served))).toBeUndefined();
    expect(lackOfKinds(aRegistryBundle(), aCluster())).toBeUndefined();
  });

  it('are all named where they are not', () => {
    expect(lackOfKinds(bundle, aCluster())).toBe(
      'the operator needs APIs that the cluster does not serve: CustomResourceDefinition kafkas.kafka.strimzi.io with version v1beta2, apps/v1/Deployment, v1/Secret: install what provides them, and core continues by itself',
    );
  });

  it('are named with the versions that there are', () => {
    const served = [
      'apps/v1/Deployment',
      'kafka.strimzi.io/v1/Kafka',
      'other.example.com/v1beta2/Kafka',
      'v1/Secret',
    ];
    expect(lackOfKinds(bundle, aCluster('v1.36.3', served))).toBe(
      'the operator needs APIs that the cluster does not serve: CustomResourceDefinition kafkas.kafka.strimzi.io with version v1beta2, which is served as v1: install what provides it, and core continues by itself',
    );
  });

  it('are not awaited where the bundle brings them itself', () => {
    const api = { group: 'a.example.com', version: 'v1', kind: 'Thing' };
    const own = aRegistryBundle({
      csv: aCsv({
        requiredCrds: [kafka],
        requiredApis: [api],
        ownedApiServices: [{ ...api, name: 'things', deploymentName: 'x', containerPort: 443 }],
      }),
      crds: [anObject('CustomResourceDefinition', { name: kafka.name })],
    });
    expect(lackOfKinds(own, aCluster())).toBeUndefined();
  });
});

describe('a bundle with requirements', () => {
  const bundle = aRegistryBundle({ csv: aCsv({ minKubeVersion: '1.99' }) });

  it('waits for a cluster that meets them', () => {
    const installation = anInstallation({ cluster: aCluster() });
    expect(() => convert(bundle, installation)).toThrow(WaitingError);
  });

  it('waits for nothing once it is installed: what it needs may go, and it is kept as it is', () => {
    const installation = anInstallation({ cluster: aCluster(), installed: true });
    expect(convert(bundle, installation)).not.toEqual([]);
  });

  it('is converted where no cluster is known', () => {
    expect(convert(bundle, anInstallation())).not.toEqual([]);
  });
});
