import { describe, expect, test } from 'vitest';
import { takenItems } from './field-conflicts.ts';

const wanted = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's' },
  spec: { ports: [{ port: 80 }] },
};
const ports = [['spec', 'ports']];
const [http, odd] = ['k:{"port":80,"protocol":"TCP"}', 'k:{"port":8080,"protocol":"TCP"}'];
const item = { '.': {}, 'f:port': {} };

function entry(manager: string, items: object, fields: object = {}) {
  const base = { manager, operation: 'Update', apiVersion: 'v1', time: '2026-01-01T00:00:00Z' };
  return { ...base, fieldsV1: { 'f:spec': { 'f:ports': items } }, ...fields };
}

function live(...managedFields: readonly object[]) {
  return { ...wanted, metadata: { name: 's', managedFields } };
}

const ours = entry('rukpak-core', { [http]: item }, { operation: 'Apply' });

describe('items of a list that nobody asks for', () => {
  test('become ours, and all else stays whose it is', () => {
    const edit = entry('kubectl-edit', { '.': {}, [http]: { 'f:nodePort': {} }, [odd]: item });
    const found = takenItems(live(ours, edit), wanted, ports);
    expect(found).toEqual({
      managedFields: [
        { ...ours, fieldsV1: { 'f:spec': { 'f:ports': { [http]: item, [odd]: item } } } },
        entry('kubectl-edit', { '.': {}, [http]: { 'f:nodePort': {} } }),
      ],
      taken: [{ field: 'spec.ports[port=8080,protocol="TCP"]', manager: 'kubectl-edit' }],
    });
  });

  test('become ours where nothing is yet, and a manager without fields goes', () => {
    const edit = entry('kubectl-edit', { [odd]: item });
    expect(takenItems(live(edit), wanted, ports)?.managedFields).toEqual([
      entry('rukpak-core', { [odd]: item }, { operation: 'Apply' }),
    ]);
  });

  test.each([
    ['an applier’s', entry('flux', { [odd]: item }, { operation: 'Apply' })],
    ['of a status', entry('cloud', { [odd]: item }, { subresource: 'status' })],
    ['what is asked for', entry('kubectl-edit', { [http]: item })],
  ])('are not %s', (_, other) => {
    expect(takenItems(live(ours, other), wanted, ports)).toBeUndefined();
  });
});
