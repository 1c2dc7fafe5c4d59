import { createHash } from 'node:crypto';
import { type Fields, isFields } from './fields.ts';
import { type Item, metadataOf, remember } from './item.ts';

/** Puts the hash of its content behind the name of what a generator made. */
export function addHash(item: Item): void {
  if (!item.hashed) return;
  remember(item);
  const metadata = metadataOf(item);
  metadata['name'] = `${String(metadata['name'])}-${contentHash(item.object)}`;
}

// Kustomize means to hash the name too, and looks for it where it is not: it hashes an empty one.
function contentHash(object: Fields): string {
  const { kind, type = '', data = '', binaryData, stringData } = object;
  const ofKind = kind === 'Secret' ? { stringData, type } : { binaryData };
  const digest = createHash('sha256')
    .update(goJson({ data, kind, name: '', ...ofKind }))
    .digest('hex');
  const letters: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };
  return digest.slice(0, 10).replaceAll(/[013ae]/g, (letter) => letters[letter] ?? letter);
}

/** As Go writes it: members in the order of their names' bytes, and more characters escaped. */
function goJson(value: unknown): string {
  if (!isFields(value)) return escaped(JSON.stringify(value));
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, member]) => `${escaped(JSON.stringify(name))}:${goJson(member)}`);
  return `{${members.join(',')}}`;
}

function escaped(json: string): string {
  return json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
