import { DatabaseSync } from 'node:sqlite';

const tables = `
CREATE TABLE schema_migrations (version bigint NOT NULL, timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
INSERT INTO schema_migrations(version) VALUES (13);
CREATE TABLE operatorbundle (name TEXT PRIMARY KEY, csv TEXT, bundle TEXT, bundlepath TEXT, skiprange TEXT,
  version TEXT, replaces TEXT, skips TEXT, substitutesfor TEXT);
CREATE TABLE package (name TEXT PRIMARY KEY, default_channel TEXT);
CREATE TABLE channel (name TEXT, package_name TEXT, head_operatorbundle_name TEXT, PRIMARY KEY(name, package_name));
CREATE TABLE channel_entry (entry_id INTEGER PRIMARY KEY, channel_name TEXT, package_name TEXT,
  operatorbundle_name TEXT, replaces INTEGER, depth INTEGER);
CREATE TABLE related_image (image TEXT, operatorbundle_name TEXT);
CREATE TABLE dependencies (type TEXT, value TEXT, operatorbundle_name TEXT, operatorbundle_version TEXT,
  operatorbundle_path TEXT);
CREATE TABLE properties (type TEXT, value TEXT, operatorbundle_name TEXT, operatorbundle_version TEXT,
  operatorbundle_path TEXT);
CREATE TABLE deprecated (operatorbundle_name TEXT PRIMARY KEY);`;

interface DatabaseBundle {
  readonly name: string;
  readonly version: string;
  readonly image?: string;
  readonly skipRange?: string;
  readonly isInline?: boolean;
  /** Type and JSON. */
  readonly properties?: readonly (readonly [string, string])[];
  readonly dependencies?: readonly (readonly [string, string])[];
  readonly relatedImages?: readonly string[];
}

function packageOf(packageName: string, version: string): readonly [string, string] {
  return ['olm.package', JSON.stringify({ packageName, version })];
}

const bundles: readonly DatabaseBundle[] = [
  {
    name: 'a.v1',
    version: '1.0.0',
    image: 'q/a:1',
    properties: [
      packageOf('a', '1.0.0'),
      ['olm.gvk', '{"group":"g","kind":"K","version":"v1"}'],
      ['custom', '{"b": 1.0, "a": "<"}'],
      ['custom', '{"b": 1.0, "a": "<"}'],
    ],
    dependencies: [
      ['olm.gvk', '{"group":"h","kind":"L","version":"v1"}'],
      ['olm.package', '{"packageName":"z","version":">1"}'],
      ['olm.label', '{"label":"l"}'],
    ],
    relatedImages: ['q/x', 'q/a:1', 'q/r:1'],
  },
  {
    name: 'a.v2',
    version: '2.0.0',
    image: 'q/a:2',
    skipRange: '<2.0.0',
    isInline: true,
    properties: [packageOf('a', '2.0.0')],
    relatedImages: ['q/x'],
  },
  { name: 'a.v3', version: '3.0.0', isInline: true },
  {
    name: 'a.v0',
    version: '0.1.0',
    image: 'q/a:0',
    properties: [packageOf('a', '0.1.0'), ['olm.deprecated', '{}']],
  },
  { name: 'b.v1', version: '1.0.0', image: 'q/b:1', properties: [packageOf('b', '1.0.0')] },
];

type Entry = readonly [number, string, string, string, number | null, number];

const entries: readonly Entry[] = [
  [1, 'stable', 'a', 'a.v3', 2, 0],
  [2, 'stable', 'a', 'a.v2', 4, 1],
  [3, 'stable', 'a', 'a.v2', 6, 1],
  [4, 'stable', 'a', 'a.v1', null, 2],
  [5, 'beta', 'a', 'a.v2', 7, 0],
  [6, 'stable', 'a', 'a.v0', null, 3],
  [7, 'beta', 'a', 'a.v1', null, 1],
  [8, 'alpha', 'b', 'b.v1', null, 0],
  [9, 'stable', 'a', 'a.v3', 4, 0],
];

/** Writes a catalog of opm's former format, with skips, a deprecated bundle and embedded manifests. */
export function writeCatalogDatabase(file: string): void {
  using database = new DatabaseSync(file);
  database.exec(tables);
  for (const each of bundles) addBundle(database, each);
  const channel = database.prepare('INSERT INTO channel VALUES (?, ?, ?)');
  channel.run('stable', 'a', 'a.v3');
  channel.run('beta', 'a', 'a.v2');
  channel.run('alpha', 'b', 'b.v1');
  const packages = database.prepare('INSERT INTO package VALUES (?, ?)');
  packages.run('a', 'stable');
  packages.run('b', 'alpha');
  const entry = database.prepare('INSERT INTO channel_entry VALUES (?, ?, ?, ?, ?, ?)');
  for (const each of entries) entry.run(...each);
}

function addBundle(database: DatabaseSync, bundle: DatabaseBundle): void {
  const { name, version, image = '', skipRange = '', isInline = false } = bundle;
  const csv = JSON.stringify(csvOf(name, version), undefined, 1);
  const manifests = isInline ? `${csv}{"apiVersion":"v1","kind":"Service","x": 1.0}` : null;
  database
    .prepare(
      'INSERT INTO operatorbundle(name, csv, bundle, bundlepath, version, skiprange) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(name, csv, manifests, image, version, skipRange);
  for (const table of ['properties', 'dependencies'] as const) {
    const insert = database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?)`);
    for (const [type, value] of bundle[table] ?? []) insert.run(type, value, name, version, image);
  }
  const related = database.prepare('INSERT INTO related_image VALUES (?, ?)');
  for (const each of bundle.relatedImages ?? []) related.run(each, name);
}

function csvOf(name: string, version: string): object {
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name, annotations: { x: '<y>' } },
    spec: {
      version,
      displayName: 'D & E',
      icon: [{ base64data: 'eA = =', mediatype: 'image/png' }],
      relatedImages: [{ name: 'r', image: 'q/r:1' }],
    },
  };
}
