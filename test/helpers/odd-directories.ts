import { seededRandom } from './seeded-random.ts';

/** The directory of a catalog, with files to be left out and with names of every kind. */
export interface OddDirectory {
  readonly seed: number;
  /** Content by path. */
  readonly files: Readonly<Record<string, string>>;
}

const folders = ['', 'a/', 'a/b/', 'B/', '.hidden/', 'objects/', 'a/objects/', 'ü/'];
const names = [
  'catalog.yaml',
  'catalog.json',
  'README',
  '.dot.yaml',
  'x y.yaml',
  'catalog.YAML',
  '[z].json',
  'a#b.yml',
  'bang!.json',
];
/** Each with a package of its own: the order of blobs without one is chance, across files. */
const contents: readonly ((name: string) => string)[] = [
  (name) => `schema: custom\npackage: ${name}\n`,
  (name) => `{"schema": "custom", "package": "${name}"}\n`,
  (name) => `{"schema": "custom", "package": "${name}"} {"schema": "x", "package": "${name}"}`,
  (name) => `schema: olm.package\nname: ${name}\n---\nschema: custom\npackage: ${name}\n`,
  () => '',
];
/** No more than one in a directory: which of two opm finds first is chance. */
const refused = ['name: x\n', '# nothing\n---\n', '[1]\n', 'schema: 1\n', 'x: {\n'];
const patterns = [
  '*.json',
  '**/*',
  '!*.json',
  '!*.yaml',
  '/a',
  'a/',
  'a/b',
  'a/**',
  '**/objects',
  '**/objects/*.yaml',
  'objects/',
  '!/a/b/catalog.yaml',
  '*.YAML',
  '.*',
  '\\[z\\].json',
  '[!a-m]*',
  '?EADME',
  'x\\ y.yaml',
  'a#b.yml',
  '\\!bang!.json',
  'bang!.json',
  '# comment',
  '  *.yml  ',
  '',
  '/',
  '*',
  '!*',
  '!a',
  'a/*/catalog.*',
  '**',
];

/** Directories with `.indexignore` files and odd names; the same for the same seed. */
export function oddDirectories(count: number, seed = 1): readonly OddDirectory[] {
  return Array.from({ length: count }, (_, index) => oddDirectory(seed + index));
}

function oddDirectory(seed: number): OddDirectory {
  const random = seededRandom(seed);
  const below = (bound: number): number => Math.floor(random() * bound);
  const pick = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T;
  const files: Record<string, string> = {};
  for (let count = 2 + below(9); count > 0; count -= 1) {
    const path = `${pick(folders)}${pick(names)}`;
    files[path] = pick(contents)(`n${count}`);
  }
  const [first = ''] = Object.keys(files);
  if (below(4) === 0) files[first] = pick(refused);
  for (let count = below(3); count > 0; count -= 1) {
    const lines = Array.from({ length: 1 + below(4) }, () => pick(patterns));
    files[`${pick(folders)}.indexignore`] = `${lines.join(pick(['\n', '\r\n']))}\n`;
  }
  return { seed, files };
}
