import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseManifests, parseYaml } from './parse-manifests.ts';
import { toYaml } from './write-yaml.ts';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

/** Words separated by spaces; an underscore that follows no digit stands for a space. */
function wordsOf(text: string): string[] {
  return text.split(' ').map((word) => word.replace(/(?<!\d)_/g, ' '));
}

/** As words, with line feeds for the commas. */
function linesOf(text: string): string[] {
  return wordsOf(text).map((word) => word.replaceAll(',', '\n'));
}

describe('toYaml', () => {
  it('writes what people would write', () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', labels: {}, uid: undefined },
      spec: {
        replicas: 2,
        args: ['--on', 'yes, please', '8080', ['nested', { deep: true }], [], {}],
        containers: [{ name: 'web', env: [{ name: 'A', value: 'on' }] }],
        script: '#!/bin/sh\n\necho "hi"\n',
        'a: b': null,
      },
    };
    expect(toYaml([deployment, object])).toBe(`---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {}
spec:
  replicas: 2
  args:
  - "--on"
  - yes, please
  - "8080"
  - - nested
    - deep: true
  - []
  - {}
  containers:
  - name: web
    env:
    - name: A
      value: "on"
  script: |
    #!/bin/sh

    echo "hi"
  "a: b": null
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
`);
  });

  it.each([
    ...wordsOf('~ null y N on Off true FALSE = << - --- ... | > ! & * ? : % @ # ` , [ ] { }'),
    ...wordsOf('1 0x1f 0o17 017 1_000 1e3 .5 +1 -0 .inf .NaN 0b11 1. 12:30:45 190:20:30'),
    ...wordsOf('2001-01-01 2001-01-01T00:00:00Z a: &a *a !!str "a" [a] {a:b} @a `a` %a é 😀 :a -a'),
    ...wordsOf('a:_b a_#b #_a _a a_ it\'s ?_a -_a a_:b "a_b'),
    ...linesOf('a,b a,b, a,,, , ,a _a,b a,__b, a,_,b a,b_ _,a a,#b a:_b,c'),
    '',
    '\ta\nb',
    'a\n\t',
    'a\tb',
    'a\r\nb',
    '\0',
    '\x7f',
    '\x85',
    '\u2028',
    '\ufeffa',
  ])('keeps the string %j a string', (text) => {
    const yaml = toYaml([{ text, [text]: text, list: [text, [text]] }]);
    const value = { text, [text]: text, list: [text, [text]] };
    expect(parseYaml(yaml)).toEqual(value);
    expect(parse(yaml, { version: '1.1' })).toEqual(value);
  });

  it('writes every digit of a large integer, and floats as floats', () => {
    const yaml = toYaml([{ big: 2n ** 63n, float: 2 ** 60, small: 1e-7, negative: -1.5 }]);
    expect(yaml).toContain('big: 9223372036854775808\n');
    expect(parseYaml(yaml)).toEqual({
      big: 2n ** 63n,
      float: 2 ** 60,
      small: 1e-7,
      negative: -1.5,
    });
  });

  it('keeps keys that are longer than readers look for a colon', () => {
    const value = { nested: { ['k'.repeat(2000)]: { a: 1 }, ['"'.repeat(600)]: ['b'] } };
    expect(parseYaml(toYaml([value]))).toEqual(value);
  });

  // With time that grows with the square of the length, this takes hours.
  it('writes a text with a million line breaks in the time of reading it', () => {
    const value = { text: `a${'\n'.repeat(1_000_000)}b\n\n` };
    expect(parseYaml(toYaml([value]))).toEqual(value);
  });

  it('writes __proto__ as the key that it is', () => {
    const value: object = JSON.parse('{"__proto__":{"a":1}}');
    expect(toYaml([value])).toBe('---\n__proto__:\n  a: 1\n');
  });

  it("round-trips through this project's parser and others", () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({
        unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', '"', "'", '\\', '\t', '|', '1'),
      }),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        text,
        fc.constantFrom(null, true, false, 0, -1, 1.5, 1e21),
        fc.integer(),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(text, value), (data) => {
        const yaml = toYaml([{ ...object, data }, object]);
        expect(parseManifests('f', Buffer.from(yaml))).toEqual([{ ...object, data }, object]);
        expect(toYaml([{ ...object, data }, object])).toBe(yaml);
      }),
      { numRuns: 500 },
    );
  });
});
