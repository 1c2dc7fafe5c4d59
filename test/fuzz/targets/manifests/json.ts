import fc from 'fast-check';
import { parseJson, stringifyJson } from '../../../../api/json.ts';
import { TerminalError } from '../../../../core/errors.ts';
import { readJsonStream, toJsonDocuments } from '../../../../core/manifests/index.ts';
import { type FuzzTarget, textOf, Violation } from '../../fuzz-target.ts';
import { expectPlain, isSameJson, shown } from './values.ts';

/** Streams of JSON objects, as manifests and our own archives have them. */
export const json: FuzzTarget = {
  name: 'json',
  seeds: [
    '{"a":1,"b":[true,null,"\\u00e9\\"}"],"c":{"d":1.5e-3}}\n{"e":12345678901234567890}\n',
    '{"a":{"b":{"c":{}}}} {"x":"}{"} {"__proto__":{"y":1}}',
    '{"long":9007199254740993,"same":9007199254740993,"float":1234567890123456.5}',
  ],
  words: ['{', '}', '[', ']', '":', '"', '\\', '\\u', '\\ud800', '1e400', '-0', '9007199254740993'],
  made: fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }))).map(toJsonDocuments),
  refusals: [TerminalError],
  read(input) {
    const text = textOf(input);
    const { documents, end } = readJsonStream(text, 10_000);
    if (end > text.length) throw new Violation('reads beyond the end');
    for (const { value } of documents) {
      expectPlain(value);
      const again = parseJson(stringifyJson(value));
      if (!isSameJson(again, value)) {
        throw new Violation(
          `reads what it wrote as another value: ${shown(value)}, ${shown(again)}`,
        );
      }
    }
  },
};
