import { gvkOf } from '../../../api/gvk.ts';
import type { JsonObject } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { stageOf } from '../../apply/index.ts';
import type { KeyPair } from '../../platform/certificates/index.ts';
import type { CertificateState } from './certificate-state.ts';
import type { WantedCertificate, WantedCertificates } from './wanted-certificates.ts';

/** Keys of the Secret's data. */
const key = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authorities: 'ca.crt',
  nextCertificate: 'next.crt',
  nextPrivateKey: 'next.key',
} as const;

/**
 * The certificates in the deployment's Secret; undefined when the Secret is incomplete or belongs
 * to others.
 */
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

/** The Secret for a state; without a state, a Secret without values, for plans. */
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

/**
 * True also for an orphaned Secret of a deleted deployment of that name; the ownership check
 * decides whether this one may take it.
 */
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

/** Kinds that restart their pods when the template changes; a Job's template is immutable. */
const rolling: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

/** Names of Secrets that the pods of a workload use; empty for kinds that do not restart pods. */
export function secretsUsedBy(object: KubernetesObject): readonly string[] {
  if (!rolling.has(object.kind) || object.apiVersion !== 'apps/v1') return [];
  const pod = fieldAt(object, 'spec', 'template', 'spec');
  const containers = ['containers', 'initContainers'].flatMap((list) => listOf(fieldAt(pod, list)));
  const names = [
    ...listOf(fieldAt(pod, 'volumes')).flatMap(secretsOfVolume),
    ...containers.flatMap(secretsOfContainer),
  ];
  return [...new Set(names)].filter((name) => name !== undefined);
}

/**
 * The workload with an annotation on its pods: the hash of the certificates with which they
 * started.
 */
export function withCertificateHash(object: KubernetesObject, hash: string): KubernetesObject {
  const spec = mapOf(object['spec']);
  const template = mapOf(spec['template']);
  const metadata = mapOf(template['metadata']);
  const annotations: JsonObject = {
    ...mapOf(metadata['annotations']),
    [annotation.certificateHash]: hash,
  };
  return {
    ...object,
    spec: { ...spec, template: { ...template, metadata: { ...metadata, annotations } } },
  };
}

function secretsOfVolume(volume: unknown): readonly (string | undefined)[] {
  const projected = listOf(fieldAt(volume, 'projected', 'sources'));
  return [
    stringAt(volume, 'secret', 'secretName'),
    ...projected.map((source) => stringAt(source, 'secret', 'name')),
  ];
}

function secretsOfContainer(container: unknown): readonly (string | undefined)[] {
  if (!isMap(container)) return [];
  return [
    ...listOf(container['env']).map((env) => stringAt(env, 'valueFrom', 'secretKeyRef', 'name')),
    ...listOf(container['envFrom']).map((from) => stringAt(from, 'secretRef', 'name')),
  ];
}

interface SecretStages {
  readonly wanted: WantedCertificates;
  readonly systemNamespace: string;
}

/**
 * The stage of each Secret, by its key: the lowest stage of its Services and of the workloads whose
 * pods use it.
 */
export function stagesOfSecrets(
  objects: readonly KubernetesObject[],
  context: SecretStages,
): ReadonlyMap<string, number> {
  const users = usersOf(objects, context);
  return new Map(
    [...context.wanted.secrets].map(([key, { services }]) => {
      const needing = [...services, ...(users.get(key) ?? [])];
      return [key, Math.min(...needing.map(stageOfObject))];
    }),
  );
}

/**
 * Workloads whose pods use a generated Secret, by the Secret's key; computed once for all Secrets.
 */
function usersOf(
  objects: readonly KubernetesObject[],
  { wanted, systemNamespace }: SecretStages,
): ReadonlyMap<string, readonly KubernetesObject[]> {
  const users = new Map<string, KubernetesObject[]>();
  for (const object of objects) {
    const namespace = object.metadata.namespace || systemNamespace;
    for (const name of secretsUsedBy(object)) {
      const key = `${namespace}/${name}`;
      if (!wanted.secrets.has(key)) continue;
      const known = users.get(key);
      if (known === undefined) users.set(key, [object]);
      else known.push(object);
    }
  }
  return users;
}

function stageOfObject(object: KubernetesObject): number {
  return stageOf({ resource: gvkOf(object), object });
}
