import { describe, expect, it } from 'vitest';
import { aCsv, aCsvManifest } from '../../test/helpers/registry-bundle.ts';
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

  it('sees owned APIServices, not required ones', () => {
    const owned = (apiservicedefinitions: object) =>
      read({ apiservicedefinitions }).ownsApiServices;
    expect(owned({ owned: [{ name: 'v1.x' }] })).toBe(true);
    expect(owned({ owned: [], required: [{ name: 'v1.x' }] })).toBe(false);
  });

  it('sees admission and conversion webhooks', () => {
    const webhookdefinitions = [{ type: 'ConversionWebhook' }];
    expect(read({ webhookdefinitions }).definesWebhooks).toBe(true);
    expect(read({ webhookdefinitions: [] }).definesWebhooks).toBe(false);
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
