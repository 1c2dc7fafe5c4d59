import { expect, test } from 'vitest';
import { roughSize } from './rendered-objects.ts';

test('is about what a value has as JSON', () => {
  const objects = Array.from({ length: 100 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `app-${index}`, namespace: 'default', labels: { app: 'x' } },
    data: { text: 'x'.repeat(200), none: null, absent: undefined },
  }));
  const exact = JSON.stringify(objects).length;
  const rough = roughSize(objects, Infinity);
  expect(rough).toBeGreaterThan(exact * 0.7);
  expect(rough).toBeLessThan(exact * 1.5);
});

test('ends at the bound', () => {
  const never = {
    get later(): string {
      throw new Error('not to be looked at');
    },
  };
  expect(roughSize([never, 'x'.repeat(100)], 50)).toBeGreaterThan(50);
});
