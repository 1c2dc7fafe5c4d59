import { expect, test } from 'vitest';
import { selects } from './label-selector.ts';

const labels = { tier: 'gold', 'olm.operatorframework.io/metadata.name': 'colours' };

test.each([
  [undefined, true],
  [{}, true],
  [{ matchLabels: { tier: 'gold' } }, true],
  [{ matchLabels: { tier: 'silver' } }, false],
  [{ matchLabels: { toString: 'x' } }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'In', values: ['silver', 'gold'] }] }, true],
  [{ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['gold'] }] }, false],
  [{ matchExpressions: [{ key: 'other', operator: 'NotIn', values: ['gold'] }] }, true],
  [{ matchExpressions: [{ key: 'other', operator: 'In', values: ['gold'] }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'tier', operator: 'Near' }] }, false],
  [
    {
      matchLabels: { tier: 'gold' },
      matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }],
    },
    false,
  ],
])('%j selects: %s', (selector, expected) => {
  expect(selects(selector, labels)).toBe(expected);
});
