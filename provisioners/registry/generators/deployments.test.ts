import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  aRegistryBundle,
  aStrategyDeployment,
} from '../../../test/helpers/registry-bundle.ts';
import { deployments } from './deployments.ts';

const inNs = anInstallation({ installNamespace: 'ns' });

describe('deployments', () => {
  it('take name, labels and spec from the CSV and annotations from all sides', () => {
    const spec = { replicas: 1, template: { metadata: { annotations: { b: 'pod' } } } };
    const csv = aCsv({
      annotations: { a: 'csv', b: 'csv', 'olm.targetNamespaces': 'csv' },
      deployments: [
        aStrategyDeployment({
          labels: { app: 'web' },
          podAnnotations: { b: 'pod', c: 'pod' },
          spec,
        }),
      ],
    });
    expect(deployments(aRegistryBundle({ csv }), inNs)).toEqual([
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {
          name: 'web',
          namespace: 'ns',
          labels: { app: 'web' },
          annotations: { a: 'csv', b: 'pod', c: 'pod', 'olm.targetNamespaces': '' },
        },
        spec: {
          replicas: 1,
          template: { metadata: { annotations: { b: 'pod', 'olm.targetNamespaces': '' } } },
        },
      },
    ]);
  });

  it('add nothing that the CSV does not say: no labels, strategy, resources or status', () => {
    const csv = aCsv({
      deployments: [aStrategyDeployment(), aStrategyDeployment({ spec: undefined })],
    });
    const [plain, empty] = deployments(aRegistryBundle({ csv }), inNs);
    const metadata = {
      name: 'web',
      namespace: 'ns',
      annotations: { 'olm.targetNamespaces': '' },
    };
    const type = { apiVersion: 'apps/v1', kind: 'Deployment' };
    expect(plain).toStrictEqual({ ...type, metadata, spec: { replicas: 1 } });
    expect(empty).toStrictEqual({ ...type, metadata });
  });

  it('name the watched namespaces on Deployment and pods', () => {
    const csv = aCsv({ deployments: [aStrategyDeployment({ spec: { template: { spec: {} } } })] });
    const installation = anInstallation({ targetNamespaces: ['a', 'b'] });
    const annotations = { 'olm.targetNamespaces': 'a,b' };
    expect(deployments(aRegistryBundle({ csv }), installation)).toMatchObject([
      { metadata: { annotations }, spec: { template: { metadata: { annotations }, spec: {} } } },
    ]);
  });

  it('name no OperatorCondition: there is none', () => {
    const env = [{ name: 'OPERATOR_CONDITION_NAME', value: 'written' }];
    const spec = podsOf({ containers: [{ name: 'main', env }, { name: 'side' }] });
    const csv = aCsv({ deployments: [aStrategyDeployment({ spec })] });
    const [deployment] = deployments(aRegistryBundle({ csv }), inNs);
    expect(deployment).toMatchObject({ spec });
    expect(JSON.stringify(deployment).match(/OPERATOR_CONDITION_NAME/g)).toHaveLength(1);
  });

  it('survive pod templates that are none', () => {
    for (const spec of [
      { template: null },
      { template: { metadata: 'text', spec: [] } },
      podsOf({ containers: {} }),
      podsOf({ containers: ['text', { env: 'text' }] }),
    ]) {
      const csv = aCsv({ deployments: [aStrategyDeployment({ spec })] });
      expect(deployments(aRegistryBundle({ csv }), inNs)).toHaveLength(1);
    }
  });
});

function podsOf(spec: JsonObject): JsonObject {
  return { template: { spec } };
}
