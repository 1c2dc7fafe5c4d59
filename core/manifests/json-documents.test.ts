import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toJsonDocuments } from './json-documents.ts';
import { parseManifests } from './parse-manifests.ts';
import { toYaml } from './write-yaml.ts';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

describe('toJsonDocuments', () => {
  it('writes a line for each object, and nothing for none', () => {
    expect(toJsonDocuments([])).toBe('');
    expect(toJsonDocuments([object, { ...object, n: 2n ** 60n, left: undefined }])).toBe(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}\n' +
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"n":1152921504606846976}\n',
    );
  });

  it('reads the same as the output of toYaml', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({
        unit: fc.constantFrom('a', '\n', '"', '\\', '{', '}', '\x7f', '\x80', '\ufeff'),
      }),
      fc.string({
        unit: fc.constantFrom('\r', '\0', '\x85', '\x9f', '\u2028', '\ufffe', '\uffff'),
      }),
    );
    // V8 (Node 24) takes the member "\n" for "\" where an object before had a member of that name.
    const key = text.filter((each) => !each.includes('\\'));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constantFrom(null, true, 0, -1, 1.5, 2n ** 60n),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value), (data) => {
        const objects = [{ ...object, data }, object];
        const read = parseManifests('f', Buffer.from(toJsonDocuments(objects)));
        expect(read).toEqual(parseManifests('f', Buffer.from(toYaml(objects))));
        expect(read).toEqual(objects);
      }),
      { numRuns: 500 },
    );
  });
});
