import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../api/json.ts';
import { parseYaml } from '../parse-manifests.ts';

describe('what is not YAML is refused with its line', () => {
  it.each([
    ['a: b\nc: d: e\n', 'yaml: line 2: '],
    ['a: b\n\n# c\n\tc: d\n', 'yaml: line 4: '],
    ['a: "b\n', 'yaml: line 2: '],
    ['a: [b\n', 'yaml: line 2: '],
    ['a:\n  b: 1\n c: 2\n', 'yaml: line 3: '],
    ['a: b\n}\n', 'yaml: line 2: '],
    [']\n', 'yaml: line 1: '],
    ['a: `b\n', 'yaml: line 1: '],
    ['a: @b\n', 'yaml: line 1: '],
    // Go reads these otherwise, or not at all.
    [
      'a: &7:0\n',
      'yaml: line 1: anchor &7:0 has other characters than letters, digits, "-" and "_"',
    ],
    ['a: *b.c\n', 'yaml: line 1: anchor *b.c has other characters'],
    ['[!!str, a]\n', 'yaml: line 1: tag !!str needs a blank after it'],
    ['{a: 1,b:,c: 2}\n', 'yaml: line 1: key b needs a blank after its colon'],
    ['{?a: 1}\n', 'yaml: line 1: "?a" needs a blank after its question mark'],
    ['# c\n\ufeff{a: !x b}\n', 'yaml: line 2: a byte order mark is amid the text'],
    ['[b:]\n', 'yaml: line 1: key b needs a blank after its colon'],
    ['a: "\\u\n', 'yaml: line 1: Invalid escape sequence \\u\\n'],
    ['a: \0\n', 'yaml: control characters are not allowed'],
    ['a: \x7f\n', 'yaml: control characters are not allowed'],
    ['a: "\\ud800"\n', 'yaml: found invalid Unicode character escape code'],
  ])('%j: %s', (text, message) => {
    expect(() => parseYaml(text)).toThrow(`error converting YAML to JSON: ${message}`);
  });

  it('but not what looks like it inside of a text, or is as in JSON', () => {
    const text = 'a: |\n  &b.c\n  [!x, b:]\nb: "&b.c"\nc: {"d":, "e": !!str , f: [x, z,]}\n?d: x\n';
    expect(parseYaml(text)).toEqual({
      a: '&b.c\n[!x, b:]\n',
      b: '&b.c',
      c: { d: null, e: '', f: ['x', 'z'] },
      '?d': 'x',
    });
  });

  it('bytes that are not UTF-8 are refused', () => {
    expect(() => parseYaml(Uint8Array.of(0x61, 0x3a, 0x20, 0xff))).toThrow(
      'error converting YAML to JSON: yaml: invalid leading UTF-8 octet',
    );
  });
});

describe('hostile documents cost little and end in an error', { timeout: 300_000 }, () => {
  const aliases = (count: number): string => Array(10).fill(`*a${count}`).join(', ');
  const levels = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${aliases(i)}]`);
  const merges = Array.from(
    { length: 60 },
    (_, i) => `a${i + 1}: &a${i + 1} {<<: [*a${i}, *a${i}]}`,
  );
  const chain = Array.from({ length: 5000 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}]`);

  it.each([
    ['aliases of aliases', `a0: &a0 [x]\n${levels.join('\n')}\n`, 'excessive aliasing'],
    ['merges of merges', `a0: &a0 {x: y}\n${merges.join('\n')}\n`, 'excessive aliasing'],
    [
      'many aliases of a long text',
      `s: &s ${'x'.repeat(1_000_000)}\nl: [${Array(1000).fill('*s').join(', ')}]\n`,
      'excessive aliasing',
    ],
    [
      'many keys that are an alias of a long text',
      `a0: &a0 ${'x'.repeat(100_000)}\na: [${Array(1_000).fill('{? *a0 : 1}').join(', ')}]\n`,
      'excessive aliasing',
    ],
    [
      'many aliases of a map with a long key',
      `m: &m\n  '${'x'.repeat(1_000_000)}': 1\nl:\n${'- *m\n'.repeat(1_000)}`,
      'excessive aliasing',
    ],
    ['aliases that nest', `a0: &a0 x\n${chain.join('\n')}\n`, 'exceeded max depth of 256'],
    ['brackets', `a: ${'['.repeat(100_000)}\n`, 'exceeded max depth of 256'],
    ['braces', `a: ${'{a: '.repeat(100_000)}\n`, 'exceeded max depth of 256'],
    ['dashes', `${'- '.repeat(100_000)}\n`, 'exceeded max depth of 256'],
    [
      'keys',
      Array.from({ length: 500 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
      'line 258: exceeded max depth of 256',
    ],
    ['quotes', `a: ${'"'.repeat(200_000)}\n`, 'line 1: '],
    ['an open quote', `a: "${' '.repeat(2_000_000)}\n`, 'line 2: '],
    ['a scalar with a bad end', `a: !!binary ${'A'.repeat(2_000_001)}\n`, 'invalid base64 data'],
  ])('%s', (_, text, message) => {
    expect(() => parseYaml(text)).toThrow(message);
  });

  it.each([
    ['spaces', `a: b${' '.repeat(2_000_000)}c\n`],
    ['digits', `a: ${'1'.repeat(2_000_000)}\n`],
    ['underscores', `a: 1${'_'.repeat(2_000_000)}x\n`],
    ['base64', `a: ${'A'.repeat(2_000_000)}\n`],
    ['quoted quotes', `a: '${"''".repeat(1_000_000)}'\n`],
    ['quoted blanks', `a: "x${' '.repeat(1_000_000)}y"\n`],
    ['backslashes', `a: "${'\\\\'.repeat(500_000)}"\n`],
    ['hashes', `a: b ${'# '.repeat(1_000_000)}\n`],
    ['empty lines', `a: |\n${' \n'.repeat(500_000)}  x\n`],
  ])('but a long line of %s is read', (_, text) => {
    expect(Object.keys(parseYaml(text) as object)).toEqual(['a']);
  });

  it('reads 250 levels in both readers', () => {
    const nested = Array.from({ length: 250 }, (_, i) => `${' '.repeat(i)}a:\n`).join('');
    let depth = 0;
    const count = (value: JsonValue): void => {
      depth += 1;
      for (const member of Object.values(value ?? {})) count(member);
    };
    count(parseYaml(nested));
    count(parseYaml(`&anchor\n${nested}`));
    expect(depth).toBe(2 * 251);
  });
});
