import { describe, expect, it, test } from 'vitest';
import type { JsonValue } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  anObject,
  aRegistryBundle,
  aServer,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import { customResourceDefinitions } from './custom-resource-definitions.ts';

const inNs = anInstallation({ installNamespace: 'ns' });

const conversion = aWebhook({
  type: 'ConversionWebhook',
  generateName: 'cthings.example.com',
  webhookPath: '/convert',
  conversionCrds: ['things.example.com'],
  fields: { sideEffects: 'None', admissionReviewVersions: ['v1', 'v1beta1'] },
});

describe('customResourceDefinitions', () => {
  it('are the very objects of the bundle', () => {
    const crds = [{ ...anObject('CustomResourceDefinition'), spec: { unknownField: 1n } }];
    expect(customResourceDefinitions(aRegistryBundle({ crds }), inNs)).toEqual(crds);
  });

  it('are not checked by the crdvalidator where the config says so', () => {
    const crds = [anObject('CustomResourceDefinition', { name: 'things.example.com' })];
    const unchecked = anInstallation({ installNamespace: 'ns', skipsCrdUpgradeSafety: true });
    const [crd] = customResourceDefinitions(aRegistryBundle({ crds }), unchecked);
    expect(crd?.metadata.annotations).toEqual({
      'core.rukpak.io/safe-crd-upgrade-validation': 'false',
    });
  });

  it('are converted by the webhook that names them, and others left as written', () => {
    const thing = {
      ...anObject('CustomResourceDefinition', { name: 'things.example.com' }),
      spec: { group: 'example.com', conversion: { strategy: 'None' }, unknown: 1n },
    };
    const other = anObject('CustomResourceDefinition', { name: 'others.example.com' });
    const bundle = aServer({ webhookDefinitions: [conversion] }, ['web'], {
      crds: [thing, other],
    });
    const made = customResourceDefinitions(bundle, inNs);
    expect(made).toEqual([
      {
        ...thing,
        metadata: {
          name: 'things.example.com',
          annotations: { 'core.rukpak.io/inject-ca-from': 'ns/web-service-cert' },
        },
        spec: {
          group: 'example.com',
          unknown: 1n,
          conversion: {
            strategy: 'Webhook',
            webhook: {
              clientConfig: {
                service: { namespace: 'ns', name: 'web-service', path: '/convert', port: 443 },
              },
              conversionReviewVersions: ['v1', 'v1beta1'],
            },
          },
        },
      },
      other,
    ]);
    expect(made[1]).toBe(other);
  });

  it('are converted at the root where no path is named', () => {
    const webhookDefinitions = [{ ...conversion, webhookPath: undefined }];
    const crds = [anObject('CustomResourceDefinition', { name: 'things.example.com' })];
    const bundle = aServer({ webhookDefinitions }, ['web'], { crds });
    expect(customResourceDefinitions(bundle, inNs)[0]?.['spec']).toMatchObject({
      conversion: { webhook: { clientConfig: { service: { path: '/' } } } },
    });
  });
});

function aDefinition(...versions: readonly JsonValue[]) {
  return { ...anObject('CustomResourceDefinition'), spec: { versions } };
}

test('fields of printer columns have the case of the API', () => {
  const column = { name: 'Age', type: 'date', JSONPath: '.metadata.creationTimestamp' };
  const other = { name: 'v2' };
  const crd = aDefinition({ name: 'v1', additionalPrinterColumns: [column] }, other);
  const jsonPath = '.metadata.creationTimestamp';
  const corrected = { name: 'Age', type: 'date', jsonPath };
  expect(customResourceDefinitions(aRegistryBundle({ crds: [crd] }), inNs)[0]).toEqual(
    aDefinition({ name: 'v1', additionalPrinterColumns: [corrected] }, other),
  );
});

test('what is written as the API has it counts', () => {
  const column = { jsonPath: '.a', JSONPath: '.b' };
  const crd = aDefinition({ additionalPrinterColumns: [column] });
  expect(customResourceDefinitions(aRegistryBundle({ crds: [crd] }), inNs)[0]).toEqual(
    aDefinition({ additionalPrinterColumns: [{ jsonPath: '.a' }] }),
  );
});

test.each<JsonValue>([
  7,
  {},
  { additionalPrinterColumns: [null, 'x', { jsonPath: '.a', other: 1 }] },
])('the rest is as written: %j', (version) => {
  const crd = aDefinition(version);
  expect(customResourceDefinitions(aRegistryBundle({ crds: [crd] }), inNs)[0]).toBe(crd);
});
