import { describe, expect, it } from 'vitest';
import { aCsv, aCsvManifest } from '../../../test/helpers/registry-bundle.ts';
import { readClusterServiceVersion } from './cluster-service-version.ts';

function read(spec: object, metadata: object = {}) {
  return readClusterServiceVersion(aCsvManifest(spec, metadata) as never);
}

describe('readClusterServiceVersion', () => {
  it('reads a bundle without a CSV as an empty one', () => {
    expect(readClusterServiceVersion(undefined)).toEqual(aCsv({ name: '', installModes: [] }));
  });

  it('reads the fields that conversion uses', () => {
    const podSpec = { serviceAccountName: 'sa', serviceAccount: 'ignored', containers: [] };
    const spec = {
      template: { metadata: { annotations: { a: 'b' } }, spec: podSpec },
    };
    const rule = { apiGroups: [''], verbs: ['get'], resources: ['pods'] };
    const readRule = {
      ...rule,
      resourceNames: undefined,
      nonResourceURLs: undefined,
      asWritten: rule,
    };
    const install = {
      strategy: 'whatever',
      spec: {
        deployments: [{ name: 'web', label: { app: 'web' }, spec }],
        permissions: [{ serviceAccountName: 'sa', rules: [rule] }],
        clusterPermissions: [{}],
      },
    };
    expect(read({ install }, { annotations: { c: 'd' } })).toEqual(
      aCsv({
        annotations: { c: 'd' },
        deployments: [
          {
            name: 'web',
            labels: { app: 'web' },
            podAnnotations: { a: 'b' },
            serviceAccountName: 'sa',
            spec,
          },
        ],
        permissions: [{ serviceAccountName: 'sa', rules: [readRule] }],
        clusterPermissions: [{ serviceAccountName: '', rules: undefined }],
      }),
    );
  });

  it('reads keys whatever their case', () => {
    const install = { Spec: { Deployments: [{ Name: 'web' }] } };
    expect(read({ Install: install }).deployments[0]?.name).toBe('web');
  });

  it('reads owned APIServices, not required ones', () => {
    const owned = { name: 'v1.x', group: 'x', version: 'v1', kind: 'X', deploymentName: 'web' };
    const apiservicedefinitions = { owned: [owned], required: [{ name: 'v1.y' }] };
    expect(read({ apiservicedefinitions }).ownedApiServices).toEqual([
      { ...owned, containerPort: 443 },
    ]);
  });

  it('reads webhooks with what is meant where nothing is written', () => {
    const rules = [{ apiGroups: ['x'] }];
    const definition = { type: 'ValidatingAdmissionWebhook', generateName: 'a.x', rules };
    expect(read({ webhookdefinitions: [definition] }).webhookDefinitions).toEqual([
      {
        type: 'ValidatingAdmissionWebhook',
        generateName: 'a.x',
        deploymentName: '',
        containerPort: 443,
        targetPort: 443,
        webhookPath: undefined,
        conversionCrds: [],
        fields: { rules },
      },
    ]);
    const ports = { containerPort: 9443, targetPort: 'hooks', conversionCRDs: ['a.x'] };
    expect(read({ webhookdefinitions: [ports] }).webhookDefinitions).toMatchObject([
      { containerPort: 9443, targetPort: 'hooks', conversionCrds: ['a.x'] },
    ]);
  });

  it('reads which CRDs are owned and required, and the oldest Kubernetes', () => {
    const [a, b] = ['a', 'b'].map((name) => ({ name: `${name}.x`, version: 'v1', kind: name }));
    const spec = { customresourcedefinitions: { owned: [a], required: [b] } };
    expect(read({ ...spec, minKubeVersion: '1.20.0' })).toMatchObject({
      ownedCrds: [a],
      requiredCrds: [b],
      minKubeVersion: '1.20.0',
    });
  });

  it.each([
    [{ installModes: 'all' }, 'slice (spec.installModes is a string'],
    [{ installModes: [{ supported: 'true' }] }, 'bool (spec.installModes[0].supported is a string'],
    [{ install: { spec: [] } }, 'struct (spec.install.spec is a list'],
    [
      { install: { spec: { deployments: [{ name: 5 }] } } },
      'string (spec.install.spec.deployments[0].name is a number',
    ],
    [
      { install: { spec: { deployments: [{ spec: 'x' }] } } },
      'struct (spec.install.spec.deployments[0].spec is a string',
    ],
    [
      { install: { spec: { permissions: [{ rules: [{ verbs: 'get' }] }] } } },
      'slice (spec.install.spec.permissions[0].rules[0].verbs is a string',
    ],
    [{ webhookdefinitions: {} }, 'slice (spec.webhookdefinitions is a map'],
  ])('names the field of a wrong type: %j', (spec, message) => {
    expect(() => read(spec)).toThrow(`unrecognized type: ${message}`);
  });

  it('names annotations that are no text', () => {
    expect(() => read({}, { annotations: { n: 1 } })).toThrow(
      'unrecognized type: string (metadata.annotations[n] is a number, correct the field in the bundle)',
    );
  });
});
