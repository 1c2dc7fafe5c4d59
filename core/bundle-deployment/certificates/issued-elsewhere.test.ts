import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { certifiedService, hookClientConfig } from '../../../test/helpers/certified-service.ts';
import { issuedByCertManager, issuedByServiceCA, issuedElsewhere } from './issued-elsewhere.ts';
import { wantedCertificates } from './wanted-certificates.ts';

const service = certifiedService();
const configuration: KubernetesObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'hook', annotations: { 'core.rukpak.io/inject-ca-from': 'app/cert' } },
  webhooks: [{ name: 'a', clientConfig: { ...hookClientConfig, caBundle: 'author' } }],
};
const other: KubernetesObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
const objects = [service, configuration, other];
const wanted = wantedCertificates(objects, 'rukpak-system')!;
const issue = { wanted, systemNamespace: 'rukpak-system', waitForReady: false };
const { signal } = new AbortController();

test('cert-manager is asked by an Issuer and a Certificate, and its injector by annotation', () => {
  const [issuer, certificate, ...rest] = issuedByCertManager(objects, issue);
  expect(issuer).toMatchObject({
    kind: 'Issuer',
    metadata: { name: 'cert-selfsigned-issuer', namespace: 'app' },
    spec: { selfSigned: {} },
  });
  expect(certificate).toMatchObject({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: 'cert', namespace: 'app' },
    spec: {
      secretName: 'cert',
      dnsNames: ['hook.app', 'hook.app.svc', 'hook.app.svc.cluster.local'],
      issuerRef: { name: 'cert-selfsigned-issuer' },
    },
  });
  expect(rest).toEqual([
    service,
    {
      ...configuration,
      metadata: {
        name: 'hook',
        annotations: {
          ...configuration.metadata.annotations,
          'cert-manager.io/inject-ca-from': 'app/cert',
        },
      },
      webhooks: [{ name: 'a', clientConfig: hookClientConfig }],
    },
    other,
  ]);
});

test('what makes a Secret comes before the pods that wait for it, where stages wait', () => {
  const [issuer, certificate] = issuedByCertManager(objects, { ...issue, waitForReady: true });
  const configuration = { 'core.rukpak.io/stage': '-10' };
  expect(issuer?.metadata.annotations).toEqual(configuration);
  expect(certificate?.metadata.annotations).toEqual(configuration);
  // An annotation alone would create stages that nobody asked for.
  const [unstaged] = issuedByCertManager(objects, issue);
  expect(unstaged?.metadata.annotations).toBeUndefined();
});

test('OpenShift’s service CA is asked by annotations', () => {
  const [asked, trusting, untouched] = issuedByServiceCA(objects, wanted);
  expect(asked?.metadata.annotations).toMatchObject({
    'service.beta.openshift.io/serving-cert-secret-name': 'cert',
  });
  expect(trusting).toMatchObject({
    metadata: { annotations: { 'service.beta.openshift.io/inject-cabundle': 'true' } },
  });
  expect(trusting?.['webhooks']).toEqual([{ name: 'a', clientConfig: hookClientConfig }]);
  expect(untouched).toBe(other);
});

test('a cluster without cert-manager is told of by the flag, and looked at again', async () => {
  let kinds: readonly string[] = ['cert-manager.io/v1/Certificate'];
  let looks = 0;
  const discovery = { apiVersions: async () => kinds, invalidate: () => (looks += 1) };
  const elsewhere = { ...issue, provider: 'cert-manager', discovery, signal } as const;
  await expect(issuedElsewhere(objects, elsewhere)).rejects.toThrow(
    'core runs with --certificates=cert-manager, and the cluster has no cert-manager',
  );
  expect(looks).toBe(1);
  kinds = ['cert-manager.io/v1/Certificate', 'cert-manager.io/v1/Issuer'];
  expect(await issuedElsewhere(objects, elsewhere)).toHaveLength(5);
});
