import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { errorMessage, TerminalError } from '../../../core/errors.ts';

/** A bundle in a channel, as upstream's servers read it from an SQLite database. */
export interface BundleRow {
  readonly name: string;
  readonly package: string;
  readonly channel: string;
  readonly version: string;
  readonly image: string;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
  /** The manifests, one JSON text after another; empty if only the image has them. */
  readonly manifests: string;
  readonly dependencies: readonly ValueRow[];
  readonly properties: readonly ValueRow[];
}

export interface ValueRow {
  readonly type: string;
  /** JSON text. */
  readonly value: string;
}

export interface ChannelRow {
  readonly package: string;
  readonly defaultChannel: string;
  readonly name: string;
}

// Channel entries are the edges to a bundle. The query follows one chain of `replaces` from the
// entries of the smallest depth, the heads of channels; the other edges are skips.
const bundlesQuery = `
WITH RECURSIVE
head(depth) AS (SELECT min(depth) FROM channel_entry),
chain(entry_id, replaces) AS (
  SELECT entry_id, replaces FROM channel_entry JOIN head ON channel_entry.depth = head.depth
  UNION
  SELECT next.entry_id, next.replaces
    FROM channel_entry AS next JOIN chain ON next.entry_id = chain.replaces
),
replaced(name, package, channel, replaces) AS (
  SELECT entry.operatorbundle_name, entry.package_name, entry.channel_name,
      max(older.operatorbundle_name)
    FROM channel_entry AS entry
    LEFT JOIN chain ON entry.entry_id = chain.entry_id
    LEFT JOIN channel_entry AS older ON chain.replaces = older.entry_id
    GROUP BY entry.operatorbundle_name, entry.package_name, entry.channel_name
),
side(entry_id, skips) AS (
  SELECT entry_id, replaces FROM channel_entry WHERE replaces IS NOT NULL
  EXCEPT SELECT entry_id, replaces FROM chain
),
skipped(name, package, channel, skips) AS (
  SELECT entry.operatorbundle_name, entry.package_name, entry.channel_name,
      json_group_array(older.operatorbundle_name)
    FROM side
    JOIN channel_entry AS entry ON side.entry_id = entry.entry_id
    JOIN channel_entry AS older ON side.skips = older.entry_id
    GROUP BY entry.operatorbundle_name, entry.package_name, entry.channel_name
)
SELECT replaced.name, replaced.package, replaced.channel, replaced.replaces, skipped.skips,
    bundle.version, bundle.bundlepath, bundle.skiprange, bundle.bundle
  FROM replaced
  JOIN operatorbundle AS bundle ON replaced.name = bundle.name
  LEFT JOIN skipped ON replaced.name = skipped.name
    AND replaced.package = skipped.package AND replaced.channel = skipped.channel`;

const headQuery = `
SELECT bundle.name, bundle.csv FROM operatorbundle AS bundle
  JOIN channel ON channel.head_operatorbundle_name = bundle.name
  WHERE channel.name = ? AND channel.package_name = ?`;

type Row = Record<string, SQLOutputValue>;

/** A catalog's SQLite database, opened read-only. */
export class CatalogDatabase implements Disposable {
  readonly #database: DatabaseSync;

  /** @throws TerminalError for a database without the tables of a catalog. */
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true });
    try {
      this.#checkTables();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  channels(): readonly ChannelRow[] {
    const query =
      'SELECT DISTINCT package.name AS package, default_channel, channel.name AS channel FROM package JOIN channel ON channel.package_name = package.name';
    return this.#rows(query).map((row) => ({
      package: textOf(row['package']),
      defaultChannel: textOf(row['default_channel']),
      name: textOf(row['channel']),
    }));
  }

  packages(): readonly string[] {
    return this.#rows('SELECT DISTINCT name FROM package WHERE name IS NOT NULL').map((row) =>
      textOf(row['name']),
    );
  }

  *bundles(): Iterable<BundleRow> {
    const dependencies = this.#values('dependencies');
    const properties = this.#values('properties');
    for (const row of this.#database.prepare(bundlesQuery).iterate() as Iterable<Row>) {
      if ([row['name'], row['version'], row['bundlepath'], row['channel']].includes(null)) continue;
      const name = textOf(row['name']);
      yield {
        name,
        package: textOf(row['package']),
        channel: textOf(row['channel']),
        version: textOf(row['version']),
        image: textOf(row['bundlepath']),
        replaces: textOf(row['replaces']),
        skips: row['skips'] === null ? [] : (JSON.parse(textOf(row['skips'])) as string[]),
        skipRange: textOf(row['skiprange']),
        manifests: textOf(row['bundle']),
        dependencies: dependencies.get(name) ?? [],
        properties: properties.get(name) ?? [],
      };
    }
  }

  /** The ClusterServiceVersion of a channel's head; undefined if the channel has no head. */
  headOf(packageName: string, channel: string): { name: string; csv: string } | undefined {
    const row = this.#database.prepare(headQuery).get(channel, packageName);
    return row && { name: textOf(row['name']), csv: textOf(row['csv']) };
  }

  /** Images by the bundle that needs them. */
  relatedImages(): ReadonlyMap<string, ReadonlySet<string>> {
    const rows = this.#rows(
      'SELECT image, operatorbundle_name AS name FROM related_image WHERE image IS NOT NULL AND name IS NOT NULL',
    );
    const groups = Map.groupBy(rows, (row) => textOf(row['name']));
    return new Map(
      [...groups].map(([name, images]) => [
        name,
        new Set(images.map((row) => textOf(row['image']))),
      ]),
    );
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #checkTables(): void {
    const needed = ['channel', 'channel_entry', 'dependencies', 'operatorbundle', 'package'];
    const tables = new Set(
      this.#rows("SELECT name FROM sqlite_master WHERE type = 'table'").map((row) =>
        textOf(row['name']),
      ),
    );
    const missing = [...needed, 'properties', 'related_image'].filter((name) => !tables.has(name));
    if (missing.length === 0) return;
    throw new TerminalError(
      `the database has no table ${missing.join(', ')}: opm before 1.15 made it, or it is no catalog; a command of that opm which adds a bundle updates it`,
    );
  }

  #values(table: 'dependencies' | 'properties'): ReadonlyMap<string, readonly ValueRow[]> {
    const rows = this.#rows(
      `SELECT operatorbundle_name AS name, CAST(type AS TEXT) AS type, CAST(value AS TEXT) AS value FROM ${table}`,
    );
    const groups = Map.groupBy(rows, (row) => textOf(row['name']));
    return new Map([...groups].map(([name, values]) => [name, distinctValues(values)]));
  }

  #rows(query: string): readonly Row[] {
    try {
      return this.#database.prepare(query).all();
    } catch (error) {
      throw new TerminalError(errorMessage(error), { cause: error });
    }
  }
}

function distinctValues(rows: readonly Row[]): readonly ValueRow[] {
  const values = rows.map((row) => ({ type: textOf(row['type']), value: textOf(row['value']) }));
  return [...new Map(values.map((each) => [`${each.type}/${each.value}`, each])).values()];
}

function textOf(value: SQLOutputValue | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? Buffer.from(value).toString('utf8') : String(value);
}
