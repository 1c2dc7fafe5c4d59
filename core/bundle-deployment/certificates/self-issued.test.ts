import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { CertificateState } from './certificate-state.ts';
import { selfIssued } from './self-issued.ts';
import { wantedCertificates } from './wanted-certificates.ts';

const systemNamespace = 'rukpak-system';
const hash = 'core.rukpak.io/certificate-hash';
const stage = 'core.rukpak.io/stage';

function aService(annotations: Readonly<Record<string, string>> = {}): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'hook',
      namespace: 'app',
      annotations: { 'core.rukpak.io/serving-certificate': 'cert', ...annotations },
    },
  };
}

function aWorkload(kind: string, pod: object, namespace = 'app'): KubernetesObject {
  const apiVersion = kind === 'Job' ? 'batch/v1' : 'apps/v1';
  const template = { metadata: { annotations: { kept: 'yes' } }, spec: pod };
  return { apiVersion, kind, metadata: { name: 'x', namespace }, spec: { template } };
}

function aState(certificate: string): CertificateState {
  return { serving: { certificate, privateKey: 'key' }, authorities: 'ca' };
}

function issued(
  objects: readonly KubernetesObject[],
  certificate = 'one',
): readonly KubernetesObject[] {
  const wanted = wantedCertificates(objects, systemNamespace);
  if (wanted === undefined) throw new Error('nothing is annotated');
  const states = new Map([['app/cert', aState(certificate)]]);
  return selfIssued(objects, { wanted, states, systemNamespace });
}

function hashOf(objects: readonly KubernetesObject[]): unknown {
  const workload = objects.find(({ metadata }) => metadata.name === 'x') as unknown as {
    readonly spec: { readonly template: { readonly metadata: KubernetesObject['metadata'] } };
  };
  const { annotations } = workload.spec.template.metadata;
  expect(annotations).toMatchObject({ kept: 'yes' });
  return annotations?.[hash];
}

const mounted = { volumes: [{ name: 'a', secret: { secretName: 'cert' } }] };

test.each<[string, object]>([
  ['a volume', mounted],
  ['a projected volume', { volumes: [{ projected: { sources: [{ secret: { name: 'cert' } }] } }] }],
  ['a variable', { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'cert' } } }] }] }],
  ['all variables', { initContainers: [{ envFrom: [{ secretRef: { name: 'cert' } }] }] }],
])('pods that use the Secret by %s are others with another certificate', (_, pod) => {
  const objects = [aService(), aWorkload('StatefulSet', pod)];
  const first = hashOf(issued(objects));
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(hashOf(issued(objects))).toBe(first);
  expect(hashOf(issued(objects, 'two'))).not.toBe(first);
});

test.each<[string, KubernetesObject]>([
  ['pods that do not use it', aWorkload('Deployment', { volumes: [] })],
  ['pods of another namespace', aWorkload('Deployment', mounted, 'other')],
  ['a Job, whose template cannot change', aWorkload('Job', mounted)],
])('%s stay as they are', (_, workload) => {
  expect(issued([aService(), workload])).toContain(workload);
});

test('the Secret of a Service that is kept is kept', () => {
  const keep = { 'core.rukpak.io/keep': 'true' };
  const [kept] = issued([aService(keep)]);
  expect(kept?.metadata.annotations).toEqual(keep);
  const [other] = issued([aService()]);
  expect(other?.metadata.annotations).toBeUndefined();
});

test.each<[string, readonly KubernetesObject[], string | undefined]>([
  ['of its kind', [aService()], undefined],
  ['of a Service that comes earlier', [aService({ [stage]: '-15' })], '-15'],
  ['of a Service that comes with its namespace', [aService({ [stage]: '3' })], '3'],
  [
    'of pods that come before their Service',
    [aService({ [stage]: '3' }), aWorkload('Deployment', mounted)],
    '0',
  ],
])('the Secret comes in the stage %s', (_, objects, expected) => {
  const [secret] = issued(objects);
  expect(secret?.metadata.annotations?.[stage]).toBe(expected);
});
