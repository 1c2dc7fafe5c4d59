import { describe, expect, test, vi } from 'vitest';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import { hasFormerFields } from '../fields/managed-fields.ts';
import { takenOverFields, takeOverFields } from './take-over-fields.ts';

const own = {
  manager: 'rukpak-core',
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-05T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:a': {} } },
};
const status = { ...own, manager: 'core', operation: 'Update', subresource: 'status' };
const other = { ...own, manager: 'kubectl-edit', operation: 'Update' };

function former(fieldsV1: object, fields: object = {}): object {
  return { ...own, manager: 'core', operation: 'Update', fieldsV1, ...fields };
}

function live(...managedFields: readonly object[]) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', managedFields } };
}

describe('an object that RukPak never wrote', () => {
  test.each([
    ['nobody wrote', []],
    ['we applied', [own]],
    ['others wrote', [other]],
    ['it wrote only the status of', [status]],
    ['a namesake applied', [former({}, { operation: 'Apply' })]],
  ])('as %s', (_, entries) => {
    const object = live(...entries);
    expect(hasFormerFields(object)).toBe(false);
    expect(takenOverFields(object)).toBeUndefined();
  });
});

test.each(['core', 'helm', 'rukpakctl'])('what %s wrote becomes ours', (manager) => {
  const fields = { 'f:data': { '.': {}, 'f:b': {} } };
  const object = live(other, former(fields, { manager }), status);
  expect(hasFormerFields(object)).toBe(true);
  expect(takenOverFields(object)).toEqual([{ ...own, fieldsV1: fields }, other, status]);
});

describe('what a Go program without a name wrote', () => {
  const fieldsV1 = { 'f:data': { 'f:b': {} } };
  const unnamed = former(fieldsV1, { manager: 'Go-http-client' });

  test("is RukPak's repair where core never applied the object", () => {
    const object = live(former({ 'f:data': { 'f:a': {} } }), other, unnamed);
    expect(hasFormerFields(live(unnamed))).toBe(true);
    expect(takenOverFields(object)).toEqual([
      { ...own, fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } },
      other,
    ]);
  });

  test('belongs to another program once core has applied the object', () => {
    const object = live(own, unnamed, former({ 'f:data': { 'f:c': {} } }));
    expect(hasFormerFields(live(own, unnamed))).toBe(false);
    expect(takenOverFields(live(own, unnamed))).toBeUndefined();
    expect(takenOverFields(object)).toEqual([
      { ...own, fieldsV1: { 'f:data': { 'f:a': {}, 'f:c': {} } } },
      unnamed,
    ]);
  });

  test('is RukPak’s where core has applied the object, and RukPak has had it since', () => {
    expect(hasFormerFields(live(own, unnamed), true)).toBe(true);
    expect(takenOverFields(live(own, unnamed), true)).toEqual([
      { ...own, fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } },
    ]);
  });
});

test('it is added to what we have', () => {
  const entries = takenOverFields(
    live(own, former({ 'f:data': { 'f:b': {} }, 'f:immutable': {} })),
  );
  expect(entries).toEqual([
    { ...own, fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} }, 'f:immutable': {} } },
  ]);
});

test('several programs, several versions: the newest one goes on', () => {
  const old = former(
    { 'f:x': {} },
    { manager: 'helm', apiVersion: 'v1beta1', time: '2025-01-01T00:00:00Z' },
  );
  const entries = takenOverFields(live(former({ 'f:y': {} }), old));
  expect(entries).toEqual([{ ...own, fieldsV1: { 'f:x': {}, 'f:y': {} } }]);
});

describe("Helm's marks", () => {
  const managedBy = { 'f:app.kubernetes.io/managed-by': {} };
  const names = { 'f:meta.helm.sh/release-name': {}, 'f:meta.helm.sh/release-namespace': {} };
  const left = { ...own, manager: 'helm-marks', operation: 'Update' };

  test('stay, with a manager of their own', () => {
    const metadata = {
      'f:labels': { '.': {}, ...managedBy, 'f:app': {} },
      'f:annotations': { '.': {}, ...names },
    };
    const marks = { 'f:labels': managedBy, 'f:annotations': names };
    expect(takenOverFields(live(former({ 'f:metadata': metadata })))).toEqual([
      {
        ...own,
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} }, 'f:annotations': { '.': {} } },
        },
      },
      { ...left, fieldsV1: { 'f:metadata': marks } },
    ]);
  });

  test('that stayed before stay', () => {
    const before = { ...left, fieldsV1: { 'f:metadata': { 'f:annotations': names } } };
    const entries = takenOverFields(
      live(before, former({ 'f:metadata': { 'f:labels': managedBy } })),
    );
    expect(entries).toEqual([
      { ...own, fieldsV1: {} },
      {
        ...left,
        fieldsV1: { 'f:metadata': { 'f:annotations': names, 'f:labels': managedBy } },
      },
    ]);
  });
});

describe('an object that core has judged', () => {
  const desired = aDesiredObject({ ...live(), metadata: { name: 'c', namespace: 'n' } });

  /** The number of patches that an object with UID u1 gets. */
  async function patchesOf(judged: string): Promise<number> {
    const stored = live(former({ 'f:data': {} }));
    const patch = vi.fn(async () => stored);
    const get = async () => ({ ...stored, metadata: { ...stored.metadata, uid: 'u1' } });
    const client = { get, patch } as unknown as KubeClient;
    const { signal } = new AbortController();
    await takeOverFields(client, { ...desired, uid: judged, returned: false }, signal);
    return patch.mock.calls.length;
  }

  test('is patched', async () => {
    expect(await patchesOf('u1')).toBe(1);
  });

  test('is not patched when somebody has made it anew', async () => {
    expect(await patchesOf('u0')).toBe(0);
  });
});
