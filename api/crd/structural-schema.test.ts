import { expect, test } from 'vitest';
import { z } from 'zod';
import { structuralSchema } from './structural-schema.ts';

test('objects prune, loose objects preserve, maps keep the type of their values', () => {
  const schema = z.object({
    block: z.object({}).optional(),
    config: z.looseObject({}).optional(),
    labels: z.record(z.string(), z.string()),
  });
  expect(structuralSchema(schema)).toEqual({
    type: 'object',
    required: ['labels'],
    properties: {
      block: { type: 'object' },
      config: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  });
});

test('integers are int64 and carry only bounds of their own', () => {
  expect(structuralSchema(z.int())).toEqual({ type: 'integer', format: 'int64' });
  expect(structuralSchema(z.int().min(0).max(7))).toEqual({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: 7,
  });
});

test('what a structural schema cannot say is refused', () => {
  expect(() => structuralSchema(z.union([z.string(), z.int()]))).toThrow('keyword "anyOf"');
});
