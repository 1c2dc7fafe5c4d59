import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { structuralSchema } from './crd/structural-schema.ts';
import { record } from './record.ts';

const odd = '{"a":"1","__proto__":"2","constructor":"3","toString":"4","hasOwnProperty":"5"}';

describe('a record', () => {
  test('keeps every key, those of prototypes included', () => {
    const parsed = z
      .object({ data: record(z.string()).optional() })
      .parse({ data: JSON.parse(odd) });
    expect(new Map(Object.entries(parsed.data ?? {}))).toEqual(
      new Map(Object.entries(JSON.parse(odd))),
    );
    expect(Object.getPrototypeOf(parsed.data)).toBe(Object.prototype);
  });

  test('changes no prototype', () => {
    const maps = record(record(z.string())).default({});
    const parsed = maps.parse(JSON.parse('{"__proto__":{"polluted":"yes"}}'));
    expect(Object.keys(parsed)).toEqual(['__proto__']);
    expect({}).not.toHaveProperty('polluted');
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  test('names the key whose value is wrong', () => {
    const { error } = z.object({ data: record(z.string()) }).safeParse({
      data: JSON.parse('{"__proto__":1,"b":2}'),
    });
    expect(error?.issues.map(({ path }) => path)).toEqual([
      ['data', 'b'],
      ['data', '__proto__'],
    ]);
    expect(record(z.string()).safeParse(['a']).success).toBe(false);
    expect(record(z.string()).safeParse(null).success).toBe(false);
  });

  test('does not take a prototype for a member', () => {
    expect(Object.keys(record(z.unknown()).parse({ a: 1 }))).toEqual(['a']);
    expect(Object.keys(record(z.unknown()).parse(Object.create(null)))).toEqual([]);
  });

  test('is a map in a schema of Kubernetes', () => {
    expect(structuralSchema(record(z.string()).describe('Labels.'))).toEqual({
      type: 'object',
      description: 'Labels.',
      additionalProperties: { type: 'string' },
    });
  });
});
