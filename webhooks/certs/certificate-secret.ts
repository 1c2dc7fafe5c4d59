import type { KubernetesObject } from '../../api/meta.ts';
import type { ObjectKey, ResourceRef } from '../cluster.ts';
import type { CertificateState } from './certificate-state.ts';

export const secretResource: ResourceRef = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

/** The state in a Secret, or undefined where it is incomplete. */
export function decodeSecret(secret: KubernetesObject | undefined): CertificateState | undefined {
  const data = secret?.['data'];
  const caBundle = decode(data, 'ca.crt');
  const caKey = decode(data, 'ca.key');
  const certificate = decode(data, 'tls.crt');
  const privateKey = decode(data, 'tls.key');
  if (!caBundle || !caKey || !certificate || !privateKey) return undefined;
  return { caBundle, caKey, serving: { certificate, privateKey } };
}

/** The Secret that holds the state; `existing` keeps its metadata and its other keys. */
export function encodeSecret(
  key: ObjectKey,
  state: CertificateState,
  existing: KubernetesObject | undefined,
): KubernetesObject {
  const others = existing?.['data'];
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: existing?.metadata ?? { name: key.name, namespace: key.namespace ?? '' },
    type: existing?.['type'] ?? 'kubernetes.io/tls',
    data: {
      ...(isObject(others) ? others : {}),
      'ca.crt': encode(state.caBundle),
      'ca.key': encode(state.caKey),
      'tls.crt': encode(state.serving.certificate),
      'tls.key': encode(state.serving.privateKey),
    },
  };
}

function decode(data: unknown, key: string): string {
  const value = isObject(data) ? data[key] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
