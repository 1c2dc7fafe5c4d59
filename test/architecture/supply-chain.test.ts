import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { architectures, readPins } from '../../deploy/release/image/pins.ts';

const root = join(import.meta.dirname, '../..');

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const { '': _project, ...locked } = (
  JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, LockedPackage>> }
).packages;
const packages = Object.entries(locked).map(([path, about]) => ({
  name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  ...about,
}));

describe('dependencies', () => {
  test('of the product come with the digest of their content, and from no place but a registry', () => {
    const others = packages.filter(
      ({ resolved = 'https://registry.npmjs.org/', integrity = '', dev = false }) =>
        !resolved.startsWith('https://registry.npmjs.org/') ||
        (!dev && !integrity.startsWith('sha512-')),
    );
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  test('run install scripts by name only: Node’s, which brings the program; no other may', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as {
      allowScripts: Readonly<Record<string, boolean>>;
    };
    const withScripts = packages.filter(({ hasInstallScript }) => hasInstallScript === true);
    expect(new Set(withScripts.map(({ name }) => name))).toEqual(
      new Set(Object.keys(allowScripts)),
    );
    expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
    // Else npm runs the scripts of a package that is not listed, and warns.
    expect(read('.npmrc')).toMatch(/^strict-allow-scripts=true$/m);
  });

  test('of the product have licences that let it be passed on', () => {
    const wrong = packages.filter(
      ({ name, license = licencesByFile[name] ?? 'none', dev = false }) =>
        !dev && !licences.has(license),
    );
    expect(wrong.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  });
});

const licences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  '(Apache-2.0 AND BSD-3-Clause)',
  '(MIT AND BSD-3-Clause)',
  '(MIT AND Zlib)',
  'PSF-2.0',
  'Unlicense',
]);

/** As their LICENSE files say: they have an older field, which package-lock.json leaves out. */
const licencesByFile: Readonly<Record<string, string>> = {
  buildcheck: 'MIT',
  'cpu-features': 'MIT',
  ssh2: 'MIT',
};

describe('the image', () => {
  const pins = readPins();

  test('has the Node that tests run on', () => {
    expect(pins.node.version).toBe(locked['node_modules/node']?.version);
  });

  test('has the same packages of Debian on all architectures, each by its digest', () => {
    const [first, ...others] = architectures.map((architecture) =>
      pins.debian[architecture].map(({ name, version }) => `${name} ${version}`),
    );
    expect(first).toHaveLength(7);
    for (const other of others) expect(other).toEqual(first);
  });
});
