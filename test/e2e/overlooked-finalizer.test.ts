import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateCertificates } from '../../deploy/local/cluster/certificates.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { FileServer } from '../helpers/file-server.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

/*
 * The API server reads a deployment without finalizers, asks the webhooks, and deletes it: it does not look again
 * whether there is a finalizer by then.
 */
const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const [name, webhook] = ['overlooked', 'slow-deletions.example.com'];

let system: System;
let reviews: FileServer;
const asked = Promise.withResolvers<void>();
const answered = Promise.withResolvers<void>();

async function review(request: IncomingMessage): Promise<object> {
  const { apiVersion, kind, ...rest } = (await json(request)) as Record<string, unknown>;
  asked.resolve();
  await answered.promise;
  const { uid } = rest['request'] as { readonly uid: string };
  return { apiVersion, kind, response: { uid, allowed: true } };
}

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
  const certificates = await generateCertificates();
  reviews = await FileServer.start({ tls: certificates.server });
  reviews.files.set('/review?timeout=30s', (request, response) => {
    void review(request).then((answer) => response.end(JSON.stringify(answer)));
  });
  await kubectl.apply({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: webhook },
    webhooks: [
      {
        name: webhook,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 30,
        clientConfig: {
          url: `${reviews.url}/review`,
          caBundle: Buffer.from(certificates.ca.cert).toString('base64'),
        },
        rules: [
          {
            apiGroups: ['core.rukpak.io'],
            apiVersions: ['*'],
            operations: ['DELETE'],
            resources: ['bundledeployments'],
          },
        ],
      },
    ],
  });
});

afterAll(async () => {
  answered.resolve();
  await kubectl.deleteNamed('validatingwebhookconfiguration', [webhook], { ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  // Core takes its finalizer off them.
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await system.stop();
  await reviews.stop();
});

test('what was applied while the API server deleted the deployment goes too', async () => {
  const place = { kubectl, registry, prefix: 'overlooked' };
  const objects = [aConfigMap('overlooked')];
  await rollOutPlain(place, { name, objects, spec: { paused: true } });
  await eventually(async () => {
    expect((await kubectl.get('bundledeployment', name))['status']).toBeDefined();
  });
  const deletion = kubectl.run(['delete', 'bundledeployment', name, '--wait=false']);
  await asked.promise;
  await kubectl.must([
    'patch',
    'bundledeployment',
    name,
    '--type=merge',
    '--patch={"spec":{"paused":false}}',
  ]);
  await eventually(async () => {
    expect(await kubectl.exists('configmap', 'overlooked', 'default')).toBe(true);
  });
  const { metadata } = await kubectl.get('bundledeployment', name);
  expect(metadata.finalizers).toEqual(['core.rukpak.io/delete-objects']);
  answered.resolve();
  await deletion;
  expect(await kubectl.exists('bundledeployment', name)).toBe(false);
  await eventually(async () => {
    expect(await kubectl.exists('configmap', 'overlooked', 'default')).toBe(false);
  }, patiently);
});
