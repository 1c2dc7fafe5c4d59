import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { type Condition, findCondition } from '../../../core/controller.ts';
import type { ExtensionKindName } from './cluster-extensions.ts';

/** An Operator or ClusterExtension in few words. */
export interface ExtensionRow {
  readonly kind: ExtensionKindName;
  readonly name: string;
  readonly package: string;
  /** Version of the installed bundle; empty for none. */
  readonly installed: string;
  /** Newest version of the package; empty if no catalog has it. */
  readonly available: string;
  /** Status of condition Ready; `Unknown` before the controller has looked at the object. */
  readonly ready: string;
  readonly reason: string;
  readonly message: string;
  /**
   * What owns it, since it requires it: an Operator by its name, a ClusterExtension as
   * `ClusterExtension/app`.
   */
  readonly requiredBy: readonly string[];
}

export function extensionRow(object: KubernetesObject): ExtensionRow {
  const { kind, metadata } = object;
  const { packageName, installed } = places[kind as ExtensionKindName];
  const ready = readyCondition(object);
  return {
    kind: kind as ExtensionKindName,
    name: metadata.name ?? '',
    package: textAt(object, packageName),
    installed: textAt(object, installed),
    available: textAt(object, ['status', 'available', 'version']),
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? '',
    message: ready?.message ?? '',
    requiredBy: ownersOf(object).map((each) =>
      each.kind === 'Operator' ? each.name : `${each.kind}/${each.name}`,
    ),
  };
}

/** The garbage collector deletes the object with the last of them. */
export function ownersOf({ metadata }: KubernetesObject) {
  return (metadata.ownerReferences ?? []).filter(({ kind }) => Object.hasOwn(places, kind));
}

const places = {
  Operator: {
    packageName: ['spec', 'packageName'],
    installed: ['status', 'installed', 'version'],
  },
  ClusterExtension: {
    packageName: ['spec', 'source', 'catalog', 'packageName'],
    installed: ['status', 'install', 'bundle', 'version'],
  },
} as const;

function textAt(object: KubernetesObject, path: readonly string[]): string {
  return stringAt(object, ...path) ?? '';
}

/**
 * How far the controller is with the present spec; without a reason, it has not looked at it yet.
 * `failed`: it does not get further unless the spec, a catalog or the cluster changes.
 */
export interface ExtensionProgress extends ExtensionRow {
  readonly phase: 'waiting' | 'ready' | 'failed';
}

export function extensionProgress(object: KubernetesObject): ExtensionProgress {
  const row = extensionRow(object);
  const ready = readyCondition(object);
  const isCurrent = ready !== undefined && ready.observedGeneration === object.metadata.generation;
  if (!isCurrent) return { ...row, reason: '', message: '', phase: 'waiting' };
  if (ready.status === 'True') return { ...row, phase: 'ready' };
  const stalled = findCondition(conditionsOf(object), 'Stalled')?.status === 'True';
  const isFailed = stalled || ready.reason === 'ResolutionFailed';
  return { ...row, phase: isFailed ? 'failed' : 'waiting' };
}

function readyCondition(object: KubernetesObject): Condition | undefined {
  return findCondition(conditionsOf(object), 'Ready');
}

function conditionsOf({ status }: KubernetesObject): readonly Condition[] {
  return listOf(fieldAt(status, 'conditions')) as readonly Condition[];
}
