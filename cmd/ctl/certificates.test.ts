import { expect, it } from 'vitest';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { anObject } from '../../test/helpers/registry-bundle.ts';
import { certifiedObjects } from './certificates.ts';

const service = anObject('Service', {
  name: 'web',
  namespace: 'shop',
  annotations: { [annotation.servingCertificate]: 'web-cert' },
});

function namesOf(provider: 'self' | 'cert-manager' | 'service-ca'): string[] {
  const objects = certifiedObjects([service], { provider, systemNamespace: 'rukpak-system' });
  return objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
}

it('adds what each provider of certificates takes', () => {
  expect(namesOf('self').toSorted()).toEqual(['Secret shop/web-cert', 'Service shop/web']);
  expect(namesOf('cert-manager').toSorted()).toEqual([
    'Certificate shop/web-cert',
    'Issuer shop/web-cert-selfsigned-issuer',
    'Service shop/web',
  ]);
  expect(namesOf('service-ca')).toEqual(['Service shop/web']);
});

it('leaves objects alone that ask for nothing', () => {
  const objects = [anObject('Service')];
  const options = { provider: 'self', systemNamespace: 'rukpak-system' } as const;
  expect(certifiedObjects(objects, options)).toBe(objects);
});
