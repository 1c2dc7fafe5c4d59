import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../apply/index.ts';

/** Those that roll their pods when the template changes; a Job's template never may. */
const rolling: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

/** Names of Secrets of its namespace that the pods of a workload use; none of what rolls no pods. */
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

/** The workload with a note in its pods of which certificates they have begun with. */
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
