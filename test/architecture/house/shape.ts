/**
 * `node test/architecture/house/shape.ts`: how the product's code is cut, as one line of JSON.
 * Product files are those that are published; tests are not among them.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const folders = '{api,catalog,cmd,core,operators,provisioners,resolver,testing,webhooks}';

interface Shape {
  readonly files: number;
  readonly folders: number;
  readonly codeLines: number;
  readonly medianCodeLines: number;
  /** Of the files, in percent: that one other file imports, and no door exports. */
  readonly withOneImporter: number;
}

function codeLines(text: string): number {
  const withoutComments = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').split('\n');
  return withoutComments.filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length;
}

function importedBy(path: string, text: string): readonly string[] {
  const imports = text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...imports].map(([, target = '']) => join(dirname(path), target));
}

function shape(): Shape {
  const texts = new Map(
    globSync(`${folders}/**/*.ts`, { cwd: root })
      .filter((path) => !path.endsWith('.test.ts') && !path.includes('node_modules'))
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
  const importers = new Map<string, number>();
  for (const [path, text] of texts) {
    // Whoever imports a door uses what it exports.
    const weight = path.endsWith('/index.ts') ? 2 : 1;
    for (const target of new Set(importedBy(path, text))) {
      importers.set(target, (importers.get(target) ?? 0) + weight);
    }
  }
  const sizes = [...texts.values()].map(codeLines).toSorted((a, b) => a - b);
  const single = [...texts.keys()].filter((path) => importers.get(path) === 1).length;
  return {
    files: texts.size,
    folders: new Set([...texts.keys()].map((path) => dirname(path))).size,
    codeLines: sizes.reduce((sum, size) => sum + size, 0),
    medianCodeLines: sizes[Math.floor(sizes.length / 2)] ?? 0,
    withOneImporter: Math.round((100 * single) / texts.size),
  };
}

console.log(JSON.stringify(shape()));
