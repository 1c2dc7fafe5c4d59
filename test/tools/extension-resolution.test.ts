// @module-tag long
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Channel, Deprecation, PackageContent } from '../../resolver/candidates/index.ts';
import { type PackageRequest, resolvePackage } from '../../resolver/olm1/index.ts';
import { askReference, goReference } from '../helpers/go-reference.ts';
import {
  aBundle,
  anEntry,
  aPackage,
  aRequest,
  contentsOf,
  nothingAround,
} from '../helpers/package-contents.ts';
import { seededRandom } from '../helpers/seeded-random.ts';

// operator-controller v1.11.0 is the truth, with Masterminds/semver v3.2.1.
let program: string;

beforeAll(async () => {
  program = await goReference(join(import.meta.dirname, 'extension-reference'));
});

const seed = 20_260_801;
const random = seededRandom(seed);

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function some<T>(values: readonly T[], share: number): readonly T[] {
  return values.filter(() => random() < share);
}

const versions =
  '0.1.0 0.2.0 1.0.0-rc.1 1.0.0 1.0.0+2 1.0.0+10 1.1.0 1.2.0 2.0.0 2.0.0+a_b odd'.split(' ');
const ranges =
  '1.x,>=1.0.0,<2,^1.0.0,1.0.0,>=1.0.0-0,2.0.0 || 0.x,~1.1,*,9.x,1.2.3.4,!=1.1.0,'.split(',');
const skipRanges = ['>=0.1.0 <1.0.0', '<1.2.0', '1.x', '^1.0.0', '>=1.0.0-rc.1'];

function entriesOf(known: readonly string[]): Channel['entries'] {
  return some(known, 0.7).map((version) =>
    anEntry('p', version, {
      ...(random() < 0.6 ? { replaces: pick(versions) } : {}),
      skips: random() < 0.3 ? some(versions, 0.2) : [],
      ...(random() < 0.3 ? { skipRange: pick(skipRanges) } : {}),
    }),
  );
}

function content(catalog: string): PackageContent {
  const known = some(versions, 0.6);
  const bundles = known.map((version) =>
    aBundle('p', version, { image: `${catalog}/p.v${version}` }),
  );
  const channels = Object.fromEntries(
    some(['stable', 'fast', 'beta'], 0.7).map((name) => [name, entriesOf(known)]),
  );
  const deprecations = some(known, random() < 0.3 ? 0.5 : 0).map(
    (version): Deprecation => ({ schema: 'olm.bundle', name: `p.v${version}`, message: 'old' }),
  );
  return aPackage({ catalog, priority: pick([0, 0, 0, 1, -5]), bundles, channels, deprecations });
}

function request(): PackageRequest {
  const installed = pick([...versions, 'gone', '1.0']);
  const range = pick(ranges);
  return aRequest({
    profile: 'extension',
    upgrades: random() < 0.85 ? 'graph' : 'any',
    channels: random() < 0.4 ? some(['stable', 'fast', 'none'], 0.5) : [],
    ...(random() < 0.5 && range !== '' ? { version: range } : {}),
    ...(random() < 0.6
      ? { installed: { by: 'name', name: `p.v${installed}`, version: installed } }
      : {}),
  });
}

interface Case {
  readonly request: PackageRequest;
  readonly contents: readonly PackageContent[];
}

function questionOf({ request: asked, contents }: Case) {
  const { packageName, version = '', channels, upgrades, installed } = asked;
  return {
    package: packageName,
    version,
    channels,
    policy: upgrades === 'any' ? 'SelfCertified' : 'CatalogProvided',
    ...(installed?.by === 'name'
      ? { installed: { name: installed.name, version: installed.version } }
      : {}),
    catalogs: contents.map(({ catalog, bundles, channels: listed, deprecations }) => ({
      name: catalog.name,
      priority: catalog.priority,
      channels: listed,
      bundles: bundles.map(({ name }) => ({ name, version: name.slice('p.v'.length) })),
      deprecations: deprecations.map(({ schema, name }) => ({ schema, name })),
    })),
  };
}

interface Answer {
  readonly image?: string;
  readonly error?: string;
}

function ours({ request: asked, contents }: Case): Answer {
  const resolution = resolvePackage(asked, contentsOf(...contents), nothingAround);
  return resolution.kind === 'failed'
    ? { error: resolution.message }
    : { image: resolution.bundle.image };
}

test('a ClusterExtension gets the bundle, or the error, of operator-controller', async () => {
  const cases = Array.from({ length: 20_000 }, () => {
    const contents = some(['c', 'a', 'b'], 0.7).map(content);
    return { request: request(), contents };
  });
  const theirs = await askReference<Answer>(program, cases.map(questionOf));
  const different = cases.flatMap((each, at) => {
    const [answer, expected] = [ours(each), theirs[at]];
    const isSame = answer.image === expected?.image && answer.error === expected?.error;
    return isSame ? [] : [{ question: questionOf(each), ours: answer, theirs: expected }];
  });
  expect(different.slice(0, 5), `seed ${seed}, ${different.length} differ`).toEqual([]);
  expect(theirs.filter(({ image }) => image !== undefined).length).toBeGreaterThan(4000);
  expect(new Set(theirs.map(({ error }) => error)).size).toBeGreaterThan(50);
});

test('no order of catalogs, or of other objects, changes an answer', () => {
  for (let run = 0; run < 500; run += 1) {
    const contents = ['c', 'a', 'b'].map(content);
    for (const profile of ['operator', 'extension'] as const) {
      const asked = { ...request(), profile };
      const answer = ours({ request: asked, contents });
      expect(ours({ request: asked, contents: contents.toReversed() })).toEqual(answer);
    }
  }
});
