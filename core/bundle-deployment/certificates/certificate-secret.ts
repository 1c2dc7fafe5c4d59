import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { stringAt } from '../../apply/index.ts';
import type { KeyPair } from '../../platform/certificates/index.ts';
import type { CertificateState } from './certificate-state.ts';
import type { WantedCertificate } from './wanted-certificates.ts';

/** Keys of the Secret's data. */
const key = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authorities: 'ca.crt',
  nextCertificate: 'next.crt',
  nextPrivateKey: 'next.key',
} as const;

/** What the deployment's Secret holds; undefined where it is somebody else's, or not whole. */
export function stateOf(
  secret: KubernetesObject | undefined,
  deploymentName: string,
): CertificateState | undefined {
  if (secret === undefined || !isOwnedBy(secret, deploymentName)) return undefined;
  const serving = pairIn(secret, key.certificate, key.privateKey);
  const authorities = textIn(secret, key.authorities);
  if (serving === undefined || authorities === undefined) return undefined;
  const next = pairIn(secret, key.nextCertificate, key.nextPrivateKey);
  const request = stringAt(secret.metadata.annotations, annotation.rotateCertificates);
  return {
    serving,
    authorities,
    ...(next === undefined ? {} : { next }),
    ...(request === undefined ? {} : { request }),
  };
}

/** The Secret that holds the state; without values while there is none: that is for plans. */
export function secretOf(
  { namespace, name }: Pick<WantedCertificate, 'namespace' | 'name'>,
  state: CertificateState | undefined,
): KubernetesObject {
  const { request, next, serving } = state ?? {};
  const annotations =
    request === undefined ? {} : { annotations: { [annotation.rotateCertificates]: request } };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, ...annotations },
    type: 'kubernetes.io/tls',
    data: {
      [key.certificate]: encoded(serving?.certificate ?? ''),
      [key.privateKey]: encoded(serving?.privateKey ?? ''),
      [key.authorities]: encoded(state?.authorities ?? ''),
      ...(next === undefined
        ? {}
        : {
            [key.nextCertificate]: encoded(next.certificate),
            [key.nextPrivateKey]: encoded(next.privateKey),
          }),
    },
  };
}

export function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Also what it has left behind when it was deleted: whether it may take that is asked elsewhere. */
function isOwnedBy({ metadata }: KubernetesObject, deploymentName: string): boolean {
  const { labels = {}, annotations = {} } = metadata;
  if (annotations[annotation.leftBy] === deploymentName) return true;
  return (
    labels[label.ownerKind] === 'BundleDeployment' && labels[label.ownerName] === deploymentName
  );
}

function pairIn(
  secret: KubernetesObject,
  certificateKey: string,
  privateKeyKey: string,
): KeyPair | undefined {
  const certificate = textIn(secret, certificateKey);
  const privateKey = textIn(secret, privateKeyKey);
  return certificate === undefined || privateKey === undefined
    ? undefined
    : { certificate, privateKey };
}

function textIn(secret: KubernetesObject, dataKey: string): string | undefined {
  const value = stringAt(secret, 'data', dataKey);
  return value ? Buffer.from(value, 'base64').toString('utf8') : undefined;
}
