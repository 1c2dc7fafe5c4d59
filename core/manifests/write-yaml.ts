import { Document, isScalar, type Scalar, visit } from 'yaml';
import { plainKey } from './yaml/map-key.ts';
import { resolvePlain } from './yaml/plain-scalar.ts';

/**
 * Writes objects as YAML documents, each preceded by a `---` line. What YAML 1.1 would read as
 * something else (`yes`, `010`) is quoted, so that `parseManifests` and kubectl read what was written.
 */
export function toYaml(objects: readonly object[]): string {
  return objects.map((object) => `---\n${writeDocument(object)}`).join('');
}

function writeDocument(object: object): string {
  // What appears twice is written twice: aliases would count against a reader's limits.
  const document = new Document(object, { aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value === 'string') quoteKey(key, key.value);
    },
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string') quoteText(scalar, scalar.value);
    },
  });
  return document.toString({ lineWidth: 0 }).replace(unprintable, escaped);
}

function quoteKey(key: Scalar, text: string): void {
  if (text === '<<' || plainKey(text) !== text) key.type = 'QUOTE_DOUBLE';
}

function quoteText(scalar: Scalar, text: string): void {
  if (resolvePlain(text) !== text || leadingSpace.test(text) || text.search(unprintable) !== -1) {
    scalar.type = 'QUOTE_DOUBLE';
  }
}

// In a block scalar the first line says how far all are indented.
const leadingSpace = /^\n*[ \t]/;

/** May not stand in YAML as it is, or not everywhere. Where one is, the text is double-quoted. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const unprintable = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
