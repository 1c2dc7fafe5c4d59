import { expect, test } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { bundleReason } from '../../api/v1alpha1/conditions.ts';
import { EventList } from '../../test/helpers/event-list.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { recordTransition } from './status.ts';

const source = { type: 'upload', upload: {} };

function aBundleWith(reason: string, message = 'a message'): Bundle {
  const about = { type: 'Unpacked', status: 'False', lastTransitionTime: '' } as const;
  return aStoredBundle({ source, status: { conditions: [{ ...about, reason, message }] } });
}

test.each([
  ['UnpackPending', 'Normal'],
  ['Unpacking', 'Normal'],
  ['UnpackSuccessful', 'Normal'],
  ['UnpackFailed', 'Warning'],
  ['ProcessingFinalizerFailed', 'Warning'],
])('%s is told once, as %s', (reason, type) => {
  const events = new EventList();
  const after = aBundleWith(reason);
  recordTransition(events, { before: aStoredBundle({ source }), after });
  recordTransition(events, { before: after, after });
  expect(events.taken()).toEqual([`${type} ${reason}: a message`]);
  recordTransition(events, { before: after, after: aBundleWith(reason, 'another one') });
  expect(events.taken()).toEqual([`${type} ${reason}: another one`]);
});

test('a source that keeps a Bundle waiting is told of as a Warning', () => {
  const events = new EventList();
  const pending = { ...aBundleWith('UnpackPending', 'no such tag'), spec: aStoredBundle({}).spec };
  recordTransition(events, { before: aStoredBundle({}), after: pending });
  expect(events.taken()).toEqual(['Warning UnpackPending: no such tag']);
});

test('these are all reasons that a Bundle has', () => {
  expect(Object.values(bundleReason)).toHaveLength(5);
});
