import { describe, expect, test } from 'vitest';
import { type Blob, readBlobs } from './index.ts';

function read(content: string): Blob[] {
  return [...readBlobs('f', Buffer.from(content, 'latin1'))];
}

function schemas(content: string): string[] {
  return read(content).map((blob) => blob.schema);
}

const yaml = 'error unmarshaling JSON: while decoding JSON: ';

describe('the blobs of a file', () => {
  test.each([
    ['', []],
    ['---\nschema: x\n', ['x']],
    ['schema: x\n---\n---\nschema: z', ['x', 'z']],
    ['schema: x\r\n--- # c\r\nschema: z\r\n', ['x', 'z']],
    ['\xef\xbb\xbfschema: x\n', ['x']],
    ['{"schema":"x"}  \n {"schema":"w"}{"schema":"v"}', ['x', 'w', 'v']],
    ['{"schema":"x"}\n---\nschema: z\n', ['x', 'z']],
    ['{\n"schema":"x","a":{\n}\n}\n{\n "schema": "w"\n}', ['x', 'w']],
    ['{"schema":"x", bad}', ['x']],
    ['SCHEMA: x\n', ['x']],
    // After some wrong guesses of where a blob ends, its brackets are counted.
    ['{\n"schema":"x" } '.repeat(20), Array.from({ length: 20 }, () => 'x')],
    ['{"schema":"x"}{"schema":"x"}\n'.repeat(20), Array.from({ length: 40 }, () => 'x')],
  ])('of %j are %j', (content, expected) => {
    expect(schemas(content)).toEqual(expected);
  });

  test.each([
    ['\n\n', `object '' is missing root schema field`],
    ['# c\n---\nschema: x', `object '' is missing root schema field`],
    ['schema: x\n---\n---\n---\nschema: z', `object '' is missing root schema field`],
    ['{"schema":"x"}\n---', `object '' is missing root schema field`],
    ['{"schema":"x"} null', `object 'null\n' is missing root schema field`],
    [
      '{"schema":"","b":1,"a":"<"}',
      `object '{"a":"<","b":1,"schema":""}\n' is missing root schema field`,
    ],
    ['schema: x\n---foo\n', 'invalid Yaml document separator: foo'],
    [
      '{"schema":"x"}\n---\nschema: y\n',
      "json: offset 17: invalid character '-' in numeric literal",
    ],
    ['{"schema":"x"}{"schema":"z"}\n---\n', "invalid character '-' in numeric literal"],
    ['{"schema":"x", "bad', 'unexpected EOF'],
    ['{"schema":"\u0001"}', "json: offset 12: invalid character '\\x01' in string literal"],
    [
      '{"schema":"x"}\n{"schema":"y"}\n{"schema":"z",}\n',
      "invalid character '}' looking for beginning of object key string",
    ],
    [
      '%YAML 1.1\n---\nschema: x\n',
      'error converting YAML to JSON: yaml: line 1: did not find expected <document start>',
    ],
    ['schema: x\na: "\xff"', 'error converting YAML to JSON: yaml: invalid leading UTF-8 octet'],
    ['{"schema":1}', 'expected value for key "schema" to be a string, got %!t(float64=1): 1'],
    ['{"schema":null}', 'expected value for key "schema" to be a string, got %!t(<nil>): <nil>'],
    [
      'schema: 1000000\n',
      `${yaml}expected value for key "schema" to be a string, got %!t(float64=1e+06): 1e+06`,
    ],
    [
      '{"schema":{"a":[1,null,true,"x"]}}',
      'expected value for key "schema" to be a string, got map[%!t(string=a):[%!t(float64=1) <nil> true %!t(string=x)]]: map[a:[1 <nil> true x]]',
    ],
    ['schema: x\nSchema: z', `${yaml}duplicate keys for key "schema": [Schema schema]`],
    ['{"schema":"x","Schema":"z"}', 'duplicate keys for key "schema": [Schema schema]'],
    [
      '- a\n',
      `${yaml}json: cannot unmarshal array into Go value of type map[string]interface {} at offset 1 (indicated by <==)\n[ <== \n    "a"\n]`,
    ],
    [
      'foo\n',
      `${yaml}json: cannot unmarshal string into Go value of type map[string]interface {} at offset 5 (indicated by <==)\n"foo" <==`,
    ],
  ])("of %j end with opm's text", (content, message) => {
    expect(() => read(content)).toThrow(expect.objectContaining({ message }));
  });

  test('have their bytes and line', () => {
    const content = '{"schema":"\xc3\xa9"}\n\n{\n"schema":"b"}\n';
    expect(read(content).map((blob) => blob.place)).toEqual([
      { file: 'f', start: 0, end: 15, line: 1 },
      { file: 'f', start: 17, end: 32, line: 3 },
    ]);
  });

  test('keep __proto__ as a key like any other, and each byte that is no UTF-8 apart', () => {
    const [blob] = read('{"schema":"x","__proto__":{"a":1},"b":"\xe2\x82"}');
    expect(Object.keys(blob?.value ?? {})).toEqual(['schema', '__proto__', 'b']);
    expect(blob?.value['b']).toBe('\ufffd\ufffd');
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  test('that nest too deep, or multiply by aliases, are refused', () => {
    const deep = `{"schema":"x","a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(() => read(deep)).toThrow('exceeded max depth');
    const levels = Array.from(
      { length: 12 },
      (_, i) => `a${i + 1}: &b${i + 1} [${`*b${i},`.repeat(9)}]`,
    );
    const bomb = `schema: x\na0: &b0 [x]\n${levels.join('\n')}\n`;
    expect(() => read(bomb)).toThrow('document contains excessive aliasing');
  });
});
