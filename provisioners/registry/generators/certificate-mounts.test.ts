import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/sdk.ts';
import { anInstallation } from '../../../test/helpers/installation.ts';
import {
  aCsv,
  anOwnedApiService,
  aRegistryBundle,
  aStrategyDeployment,
  aWebhook,
} from '../../../test/helpers/registry-bundle.ts';
import type { ClusterServiceVersion } from '../bundle/cluster-service-version.ts';
import { withCertificateMounts } from './certificate-mounts.ts';

const webhookPath = '/tmp/k8s-webhook-server/serving-certs';
const apiServicePath = '/apiserver.local.config/certificates';
const volumes = [
  {
    name: 'apiservice-cert',
    secret: {
      secretName: 'web-service-cert',
      items: [
        { key: 'tls.crt', path: 'apiserver.crt' },
        { key: 'tls.key', path: 'apiserver.key' },
      ],
    },
  },
  {
    name: 'webhook-cert',
    secret: {
      secretName: 'web-service-cert',
      items: [
        { key: 'tls.crt', path: 'tls.crt' },
        { key: 'tls.key', path: 'tls.key' },
      ],
    },
  },
];
const mounts = [
  { name: 'apiservice-cert', mountPath: apiServicePath },
  { name: 'webhook-cert', mountPath: webhookPath },
];

function podSpecWith(
  podSpec: JsonObject,
  csv: Partial<ClusterServiceVersion> = { webhookDefinitions: [aWebhook()] },
): unknown {
  const spec = { template: { spec: podSpec } };
  const changed = withCertificateMounts(spec, {
    deployment: aStrategyDeployment({ spec }),
    bundle: aRegistryBundle({ csv: aCsv(csv) }),
    installation: anInstallation(),
  }) as { readonly template: { readonly spec: unknown } };
  return changed.template.spec;
}

describe('certificateMounts', () => {
  it.each([
    ['webhooks', { webhookDefinitions: [aWebhook()] }],
    ['APIs', { ownedApiServices: [anOwnedApiService()] }],
  ])('mount the Secret at both paths in every container of what serves %s', (_what, csv) => {
    const containers = [{ name: 'a' }, { name: 'b' }];
    const initContainers = [{ name: 'c' }];
    expect(podSpecWith({ containers, initContainers }, csv)).toEqual({
      containers: containers.map((container) => ({ ...container, volumeMounts: mounts })),
      initContainers,
      volumes,
    });
  });

  it('leave a deployment alone that serves nothing', () => {
    const podSpec = { containers: [{ name: 'a' }] };
    const webhookDefinitions = [aWebhook({ deploymentName: 'another' })];
    expect(podSpecWith(podSpec, { webhookDefinitions })).toBe(podSpec);
  });

  it('replace volumes of their names where they stand, and leave mounts of their names', () => {
    const own = { name: 'webhook-cert', mountPath: '/certs', readOnly: true };
    const podSpec = {
      containers: [{ volumeMounts: [own] }],
      volumes: [
        { name: 'webhook-cert', emptyDir: {} },
        { name: 'data', emptyDir: {} },
      ],
    };
    expect(podSpecWith(podSpec)).toEqual({
      containers: [{ volumeMounts: [own, mounts[0]] }],
      volumes: [volumes[1], { name: 'data', emptyDir: {} }, volumes[0]],
    });
  });

  it('replace a mount at their path, with its volume where nothing else mounts that', () => {
    const cert = { name: 'cert', secret: { secretName: 'webhook-server-cert' } };
    const at = (mountPath: string) => ({ name: 'cert', mountPath, readOnly: true });
    const data = { name: 'data', mountPath: '/data' };
    const replaced = [mounts[1], data, mounts[0]];
    const podSpec = (initContainers: readonly JsonObject[]) => ({
      initContainers,
      containers: [{ volumeMounts: [at(`${webhookPath}/`), data] }],
      volumes: [cert, { name: 'unused', emptyDir: {} }],
    });
    expect(podSpecWith(podSpec([]))).toEqual({
      initContainers: [],
      containers: [{ volumeMounts: replaced }],
      volumes: [{ name: 'unused', emptyDir: {} }, ...volumes],
    });
    expect(podSpecWith(podSpec([{ volumeMounts: [at('/certs')] }]))).toMatchObject({
      containers: [{ volumeMounts: replaced }],
      volumes: [cert, { name: 'unused', emptyDir: {} }, ...volumes],
    });
  });

  // With time that grows with the square of the length, this takes hours.
  it('take no longer than reading for a path of a million slashes', () => {
    const own = { name: 'own', mountPath: `${webhookPath}${'/'.repeat(1_000_000)}x` };
    expect(podSpecWith({ containers: [{ volumeMounts: [own] }] })).toMatchObject({
      containers: [{ volumeMounts: [own, ...mounts] }],
    });
  });

  it('survive volumes, containers and mounts that are none', () => {
    for (const odd of [undefined, null, 7, 'text', {}, [null, 7, { name: 3 }]] as const) {
      expect(() => podSpecWith({ containers: odd, volumes: odd })).not.toThrow();
      expect(() => podSpecWith({ containers: [{ volumeMounts: odd }] })).not.toThrow();
    }
  });
});
