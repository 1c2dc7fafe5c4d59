import { describe, expect, it } from 'vitest';
import { Field } from './field.ts';

describe('Field', () => {
  it('matches keys whatever their case, an exact one first', () => {
    expect(new Field({ ApiVersion: 'a' }, '').get('apiVersion').string()).toBe('a');
    expect(new Field({ NAME: 'a', name: 'b', Name: 'c' }, '').get('name').string()).toBe('b');
  });

  it('reads absent and null fields as zero values', () => {
    for (const field of [
      new Field(undefined, 'f'),
      new Field(null, 'f'),
      new Field({}, '').get('f'),
    ]) {
      expect(field.raw).toBeUndefined();
      expect(field.string()).toBe('');
      expect(field.boolean()).toBe(false);
      expect(field.list()).toBeUndefined();
      expect(field.object()).toBeUndefined();
      expect(field.stringMap()).toEqual({});
      expect(field.get('deeper').get('still').string()).toBe('');
    }
  });

  it('does not take what objects inherit for fields', () => {
    expect(new Field({}, '').get('toString').raw).toBeUndefined();
    expect(new Field({}, '').get('__proto__').raw).toBeUndefined();
  });

  it('keeps __proto__ as the key it is', () => {
    const map = new Field(JSON.parse('{"__proto__":"x"}'), 'f').stringMap();
    expect(Object.entries(map)).toEqual([['__proto__', 'x']]);
  });

  it('coerces scalars only where asked to', () => {
    expect(new Field(1, 'f').coercedString()).toBe('1');
    expect(new Field(1.1, 'f').coercedString()).toBe('1.1');
    expect(new Field(2n ** 60n, 'f').coercedString()).toBe('1152921504606846976');
    expect(new Field(true, 'f').coercedString()).toBe('true');
    expect(() => new Field(1, 'f').string()).toThrow('unrecognized type: string');
    expect(() => new Field([], 'f').coercedString()).toThrow('unrecognized type: string');
  });

  const value = { a: [{ b: 7 }], m: { k: [] }, s: 'text' };
  it.each([
    ['string', (f: Field) => f.get('a').list()?.[0]?.get('b').string(), 'a[0].b is a number'],
    ['string', (f: Field) => f.get('m').stringMap(), 'm[k] is a list'],
    ['bool', (f: Field) => f.get('s').boolean(), 's is a string'],
    ['slice', (f: Field) => f.get('m').list(), 'm is a map'],
    ['map', (f: Field) => f.get('a').stringMap(), 'a is a list'],
    ['struct', (f: Field) => f.get('s').get('deeper'), 's is a string'],
  ])('names the %s it wanted and the field it found', (type, read, place) => {
    expect(() => read(new Field(value, ''))).toThrow(
      `unrecognized type: ${type} (${place}, correct the field in the bundle)`,
    );
  });
});
