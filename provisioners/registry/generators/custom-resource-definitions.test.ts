import { describe, expect, it } from 'vitest';
import { anInstallation } from '../../../test/helpers/installation.ts';
import { anObject, aServer, aWebhook } from '../../../test/helpers/registry-bundle.ts';
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
