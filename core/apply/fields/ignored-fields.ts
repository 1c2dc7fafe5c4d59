import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { IgnoredFields } from '../../../api/v1alpha1/deployment-policies.ts';
import type { ObjectKey, Resource } from '../../platform/kube/index.ts';
import { type FieldTree, fieldTree } from './field-tree.ts';

/** The fields of one object that its deployment leaves to others (spec.drift.ignore). */
export interface IgnoredTree {
  /** Equal for the same pointers. */
  readonly key: string;
  readonly tree: FieldTree;
}

/** What the deployment's rules leave to others in an object of its bundle; undefined where nothing. */
export function ignoredIn(
  owner: BundleDeployment,
  { resource, key }: { readonly resource: Resource; readonly key: ObjectKey },
  object: KubernetesObject,
): IgnoredTree | undefined {
  const rules = owner.spec?.drift?.ignore ?? [];
  const paths = rules.filter((rule) => isFor(rule, resource, key)).flatMap((rule) => rule.paths);
  if (paths.length === 0) return undefined;
  const pointers = [...new Set(paths)].sort();
  return { key: JSON.stringify(pointers), tree: fieldTree(pointers, object) };
}

function isFor(rule: IgnoredFields, { group, kind }: Resource, key: ObjectKey): boolean {
  return (
    (rule.group ?? group) === group &&
    (rule.kind ?? kind) === kind &&
    (rule.namespace ?? key.namespace) === key.namespace &&
    (rule.name ?? key.name) === key.name
  );
}
