import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { Resource } from '../../platform/kube/index.ts';
import { mapOf } from '../fields/json-fields.ts';
import { isBeforeWorkloads, isFoundation, isWorkload } from '../objects/order.ts';

/** An object of a bundle, or one that is live. */
export interface StagedObject {
  readonly resource: Pick<Resource, 'group' | 'kind'>;
  readonly object: KubernetesObject;
}

/** Stages of objects without an annotation; wide apart, so that others fit between. */
export const builtInStage = {
  /** Namespaces and CRDs. */
  foundation: -20,
  /** Accounts, RBAC, configuration, quotas, Services. */
  configuration: -10,
  /** What runs pods, and the claims that become ready only with a pod. */
  workload: 0,
  /** Ingresses, APIServices, webhook configurations, custom resources. */
  other: 10,
} as const;

/**
 * The stage of an object: what its annotation `core.rukpak.io/stage` says, else the one of its
 * kind. Lower stages are applied first and deleted last.
 */
export function stageOf(staged: StagedObject): number {
  return annotatedStage(staged.object) ?? stageOfKind(staged.resource);
}

/** The stage that the object's annotation asks for; undefined where it asks for none. */
export function annotatedStage(object: KubernetesObject): number | undefined {
  const text = stageText(object);
  return typeof text === 'string' && wholeNumber.test(text) ? Number(text) : undefined;
}

/** Says what is wrong with the annotation of an object; undefined where all is well. */
export function stageProblem(object: KubernetesObject): string | undefined {
  const text = stageText(object);
  if (text === undefined || annotatedStage(object) !== undefined) return undefined;
  const shown = JSON.stringify(text).slice(0, 100);
  return `annotation ${annotation.stage} is ${shown}: it must be a whole number of at most six digits, in quotes, such as "5" or "-1"`;
}

const wholeNumber = /^-?\d{1,6}$/;

function stageText({ metadata }: KubernetesObject): unknown {
  return mapOf(metadata.annotations)[annotation.stage];
}

function stageOfKind(resource: StagedObject['resource']): number {
  if (isFoundation(resource)) return builtInStage.foundation;
  // A claim may wait for its first pod: nothing that has to be ready first may wait for it.
  if (isWorkload(resource.kind) || isVolumeClaim(resource)) return builtInStage.workload;
  return isBeforeWorkloads(resource.kind) ? builtInStage.configuration : builtInStage.other;
}

function isVolumeClaim({ group, kind }: StagedObject['resource']): boolean {
  return group === '' && kind === 'PersistentVolumeClaim';
}
