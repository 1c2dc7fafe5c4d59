import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, isMap, listOf, stringAt } from '../../apply/index.ts';

/** Name of the field manager that was the last to set spec.template. */
export function templateManager({ metadata }: KubernetesObject): string | undefined {
  const entries = listOf(fieldAt(metadata, 'managedFields')).filter(setsTemplate);
  const latest = entries.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a)))[0];
  return stringAt(latest, 'manager');
}

/** The object with no more of managedFields than what `templateManager` reads: caches hold many. */
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
