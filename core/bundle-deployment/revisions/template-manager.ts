import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';

/** The user who last changed the spec, or the field manager that last set spec.template. */
export function changedBy(deployment: BundleDeployment): string | undefined {
  const user = deployment.metadata.annotations?.[annotation.changedBy];
  if (user !== undefined) return user;
  const manager = templateManager(deployment);
  return manager === undefined ? undefined : `${manager} (field manager)`;
}

/** Name of the last field manager that set spec.template. */
export function templateManager({ metadata }: KubernetesObject): string | undefined {
  const entries = listOf(fieldAt(metadata, 'managedFields')).filter(setsTemplate);
  const latest = entries.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)))[0];
  return stringAt(latest, 'manager');
}

/**
 * The object with only those managedFields that `templateManager` reads, because caches hold many
 * objects.
 */
export function keepTemplateManager<T extends KubernetesObject>(object: T): T {
  const managedFields = listOf(fieldAt(object.metadata, 'managedFields'))
    .filter(setsTemplate)
    .map((entry) => ({
      manager: stringAt(entry, 'manager'),
      time: timeOf(entry),
      fieldsV1: { 'f:spec': { 'f:template': {} } },
    }));
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function setsTemplate(entry: unknown): boolean {
  return isMap(fieldAt(entry, 'fieldsV1', 'f:spec', 'f:template'));
}

function timeOf(entry: unknown): string {
  return stringAt(entry, 'time') ?? '';
}
