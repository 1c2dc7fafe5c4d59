import type { OddCatalog } from './odd-catalogs.ts';
import { seededRandom } from './seeded-random.ts';

/** Catalogs in YAML as people write it, in the block style; the same for the same seed. */
export function oddYamlCatalogs(count: number, seed = 1): readonly OddCatalog[] {
  return Array.from({ length: count }, (_, index) => {
    const writer = new Writer(seededRandom(seed + index));
    return { seed: seed + index, content: writer.catalog() };
  });
}

/** Scalars that are texts, as they are written; the lines after the first are indented. */
const texts = [
  'plain',
  'two words',
  'v1.2.3',
  '1.2.3',
  '<1.0.0',
  '">=1.0.0 <2.0.0"',
  '12:30',
  '2020-01-01',
  '2001-12-14t21:59:43.10-05:00',
  '!!str 12',
  "'it''s'",
  "'  '",
  '"1.0"',
  '"\\u00e9\\n\\x41"',
  '"tab\\there"',
  "'two\nlines'",
  '"folded\ntext"',
  '"escaped \\\nbreak"',
  'plain\ncontinued',
  '!!binary aGk=',
  '!custom x',
  '|\ntext\n more\nend',
  '|-\ntext\n\n\n',
  '|+\ntext\n\n',
  '|2\n leading',
  '>\nfolded\ntext\n\nnext\n  kept\n',
  '>-\nfolded\ntext',
  'x # comment',
  'a#b',
  'http://example.com:80/',
  '08',
];
/** Other scalars and flow collections. */
const values = [
  'on',
  'Off',
  'y',
  '~',
  'Null',
  '',
  '0x1F',
  '0o17',
  '012',
  '1_000',
  '0b11',
  '1e3',
  '1E+3',
  '.5',
  '5.',
  '-0',
  '+1',
  '12345678901234567890',
  '190:20:30',
  '!!int "3"',
  '[a, "b", 1, [c], {d: e}]',
  '{a: 1, "b": 2, ? c : d, e}',
  '[]',
  '{}',
];
/** Of no use to a parser, so that a catalog has few of them. */
const refused = ['@at', 'a: b', '- a', '`tick', '%x', '*nothing', '"\\q"', '>=1', '[a', '.inf'];
const keys = ['a', 'b', 'a10', 'a2', 'on', '1', '"quoted"', "'single'", 'two words', 'é'];
const schemas = ['olm.package', 'olm.channel', 'olm.bundle', 'olm.deprecations', 'custom', 'other'];
/** By schema: fields whose values are written at random. */
const fields: Readonly<Record<string, readonly string[]>> = {
  'olm.package': ['description', 'defaultChannel', 'icon', 'properties'],
  'olm.channel': ['entries', 'properties'],
  'olm.bundle': ['image', 'properties', 'relatedImages'],
  'olm.deprecations': ['entries'],
};

class Writer {
  readonly #random: () => number;
  #anchors = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  catalog(): string {
    const documents = Array.from({ length: 1 + this.#below(4) }, () => this.#document());
    const start = this.#pick(['', '---\n', '# comment\n', '# comment\n---\n']);
    return `${start}${documents.join(this.#pick(['---\n', '---  \n', '--- # next\n']))}`;
  }

  #document(): string {
    this.#anchors = 0;
    const schema = this.#pick(schemas);
    const lines = [`schema: ${schema}`];
    if (this.#below(6) > 0) lines.push(`name: n${this.#below(9)}`);
    if (this.#below(6) > 0) lines.push(`package: p${this.#below(3)}`);
    for (const field of fields[schema] ?? keys.filter(() => this.#below(4) === 0)) {
      if (this.#below(4) > 0) lines.push(`${field}:${this.#fieldOf(field)}`);
    }
    return `${lines.join(this.#below(8) === 0 ? '\n\n# about\n' : '\n')}\n`;
  }

  /** What follows the colon. */
  #fieldOf(field: string): string {
    switch (field) {
      case 'properties':
        return this.#list(() => `type: t${this.#below(9)}\n  value:${this.#node(2, 2)}`);
      case 'entries':
        return this.#list(() => `name: e${this.#below(9)}\n  skipRange:${this.#scalar(2, texts)}`);
      case 'relatedImages':
        return this.#list(
          () => `image:${this.#scalar(2, texts)}\n  name:${this.#scalar(2, texts)}`,
        );
      case 'icon':
        return `\n  base64data: aGk=\n  mediatype:${this.#scalar(2, texts)}`;
      case 'defaultChannel':
      case 'description':
      case 'image':
        return this.#scalar(0, texts);
      default:
        return this.#node(0, 3);
    }
  }

  #list(item: () => string): string {
    return `\n${Array.from({ length: 1 + this.#below(3) }, () => `- ${item()}`).join('\n')}`;
  }

  #node(indent: number, depth: number): string {
    const kind = depth === 0 ? 0 : this.#below(4);
    if (kind < 2) return this.#scalar(indent);
    const space = ' '.repeat(indent + 2);
    const items = Array.from({ length: 1 + this.#below(3) }, () => {
      const value = this.#node(indent + 2, depth - 1);
      return kind === 2 ? `${space}-${value}` : `${space}${this.#pick(keys)}:${value}`;
    });
    if (kind > 2 && this.#below(9) === 0) items.push(`${space}<<: {a: merged, c: merged}`);
    return `${this.#anchor()}\n${items.join('\n')}`;
  }

  #scalar(indent: number, of = [...texts, ...values]): string {
    if (of !== texts && this.#anchors > 0 && this.#below(9) === 0) {
      return ` *n${1 + this.#below(this.#anchors)}`;
    }
    const chosen = this.#pick(this.#below(100) === 0 ? refused : of);
    const text = chosen.replaceAll('\n', `\n${' '.repeat(indent + 2)}`);
    return `${this.#anchor()}${text === '' ? '' : ' '}${text}`;
  }

  #anchor(): string {
    if (this.#below(9) > 0) return '';
    this.#anchors += 1;
    return ` &n${this.#anchors}`;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }
}
