import { expect, test } from 'vitest';
import type { JsonValue } from '../../../core/sdk.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { withColumnFields } from './written-columns.ts';

function aDefinition(...versions: readonly JsonValue[]) {
  return { ...anObject('CustomResourceDefinition'), spec: { versions } };
}

test('fields of printer columns have the case of the API', () => {
  const column = { name: 'Age', type: 'date', JSONPath: '.metadata.creationTimestamp' };
  const other = { name: 'v2' };
  const crd = aDefinition({ name: 'v1', additionalPrinterColumns: [column] }, other);
  const jsonPath = '.metadata.creationTimestamp';
  const corrected = { name: 'Age', type: 'date', jsonPath };
  expect(withColumnFields(crd)).toEqual(
    aDefinition({ name: 'v1', additionalPrinterColumns: [corrected] }, other),
  );
});

test('what is written as the API has it counts', () => {
  const column = { jsonPath: '.a', JSONPath: '.b' };
  const crd = aDefinition({ additionalPrinterColumns: [column] });
  expect(withColumnFields(crd)).toEqual(
    aDefinition({ additionalPrinterColumns: [{ jsonPath: '.a' }] }),
  );
});

test.each<JsonValue>([
  7,
  {},
  { additionalPrinterColumns: [null, 'x', { jsonPath: '.a', other: 1 }] },
])('the rest is as written: %j', (version) => {
  const crd = aDefinition(version);
  expect(withColumnFields(crd)).toBe(crd);
});
