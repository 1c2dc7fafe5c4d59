import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { keepTemplateManager, templateManager } from './template-manager.ts';

function anObject(...managedFields: readonly object[]): KubernetesObject {
  const metadata = { name: 'demo', managedFields };
  return { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'BundleDeployment', metadata };
}

function anEntry(manager: string, time: string, fieldsV1: object): object {
  return { manager, operation: 'Update', time, fieldsType: 'FieldsV1', fieldsV1 };
}

const template = { 'f:spec': { 'f:paused': {}, 'f:template': { 'f:spec': {} } } };
const demo = anObject(
  anEntry('older', '2026-01-01T00:00:00Z', template),
  anEntry('kubectl', '2026-01-02T00:00:00Z', template),
  anEntry('pauser', '2026-01-03T00:00:00Z', { 'f:spec': { 'f:paused': {} } }),
  anEntry('core', '2026-01-04T00:00:00Z', { 'f:status': { 'f:template': {} } }),
);

test('the manager that set the template last is found, and no other', () => {
  expect(templateManager(demo)).toBe('kubectl');
  expect(templateManager(anObject())).toBeUndefined();
});

test('a cache keeps of managed fields what is needed for that', () => {
  const kept = keepTemplateManager(demo);
  expect(templateManager(kept)).toBe('kubectl');
  expect(JSON.stringify(kept)).not.toMatch(/pauser|core"|f:paused/);
  expect(kept.metadata.name).toBe('demo');
});
