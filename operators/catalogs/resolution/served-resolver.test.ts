// @module-tag process
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { blobOfValue } from '../../../catalog/blobs/index.ts';
import { systemClock } from '../../../core/controller.ts';
import type { PackageRequest } from '../../../resolver/olm1/index.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { CatalogContent } from '../content/catalog-content.ts';
import { writeContent } from '../content/write-content.ts';
import { ServedCatalogs } from '../serving/served-catalogs.ts';
import type { PackageAnswer } from './package-answer.ts';
import { ServedResolver, type ServedResolverLimits } from './served-resolver.ts';

const { signal } = new AbortController();
const colours = { kind: 'Catalog', name: 'colours', labels: {}, priority: 0 } as const;

let directory: string;
let served: ServedCatalogs;
let resolver: ServedResolver;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'served-resolver-'));
  served = new ServedCatalogs();
  served.note(colours);
  resolver = new ServedResolver(served, { directory, clock: systemClock });
});

afterEach(async () => {
  await resolver.close();
  await served.close();
  await rm(directory, { recursive: true });
});

function limitedTo(limits: Partial<ServedResolverLimits>): void {
  resolver = new ServedResolver(served, { directory, clock: systemClock, limits });
}

/** Serves content of these blobs, from a directory of this name. */
async function serve(blobs: readonly object[], name = 'content'): Promise<void> {
  const content = await mkdtemp(join(directory, name));
  const limits = { maxBlobs: 200_000, maxNameBytes: 100_000_000 };
  await writeContent(content, blobsOf(blobs), { limits, signal });
  const state = { uid: 'u', ref: 'r', resolvedRef: 'r@sha256:0', unpackedAt: 0 };
  await served.serve(colours, { content: await CatalogContent.open(content), state });
}

async function* blobsOf(values: readonly object[]) {
  for (const value of values) yield blobOfValue(value as Parameters<typeof blobOfValue>[0]);
}

type Properties = readonly { readonly type: string; readonly value: unknown }[];

/** A package with bundles of versions 1.0.0, 1.1.0, … in channel stable. */
function aPackage(name: string, count = 1, properties: Properties = []): readonly object[] {
  const versions = Array.from({ length: count }, (_, index) => `1.${index}.0`);
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', name: 'stable', package: name, entries },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      name: `${name}.v${version}`,
      package: name,
      image: `example.com/${name}:${version}`,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }, ...properties],
    })),
  ];
}

function rule(text: string) {
  return { type: 'olm.constraint', value: { failureMessage: 'no', cel: { rule: text } } };
}

async function resolve(
  packageName: string,
  wish: Partial<PackageRequest> = {},
  by: AbortSignal = signal,
): Promise<PackageAnswer> {
  const request: PackageRequest = {
    profile: 'operator',
    packageName,
    channels: [],
    upgrades: 'semver',
    ...wish,
  };
  const surroundings = { present: [], unavailable: [] };
  return await resolver.resolve({ request, surroundings, isWanted: () => true }, by);
}

function textOf({ resolution }: PackageAnswer): string {
  return resolution.kind === 'resolved' ? resolution.bundle.name : resolution.message;
}

/** Over 40 properties, each rule takes all of its own steps. */
const nested =
  'properties.exists(a, properties.exists(b, properties.exists(c, a.type + b.type == c.type)))';
const slowRules = [
  ...Array.from({ length: 40 }, (_, index) => ({ type: `t${index}`, value: index })),
  ...Array.from({ length: 1000 }, (_, index) => rule(`${nested} || ${index} == -1`)),
];
/** Each bundle requires others, and no two of them fit together. */
const web = Array.from({ length: 14 }, (_, number) =>
  aPackage(
    number === 0 ? 'web' : `d${number}`,
    13,
    Array.from({ length: 13 }, (_unused, other) => ({
      type: 'olm.package.required',
      value: { packageName: `d${other + 1}`, versionRange: `!=1.${number}.0 !=1.${other}.0` },
    })),
  ),
).flat();

describe('off the event loop', () => {
  test.each([
    [
      '100,000 channel entries without bundles',
      aPackage('p', 100_000).slice(0, 12),
      /^bundle "p\.v1\.10\.0" not found in catalog "colours"/,
    ],
    ['8,000 bundles', aPackage('p', 8_000), /^p\.v1\.7999\.0$/],
    ['an expression', aPackage('p', 1, [rule('true')]), /^p\.v1\.0\.0$/],
    [
      'rules without end',
      aPackage('p', 1, slowRules),
      /^resolving package "p" takes more than 40000000 steps: request one channel /,
    ],
    ['a web of requirements', web, /^constraints not satisfiable:|^resolving package "web" takes/],
  ])('%s end in an answer while other packages are resolved', async (_, blobs, expected) => {
    await serve([...blobs, ...aPackage('small', 3)]);
    const order: string[] = [];
    const answer = resolve(blobs === web ? 'web' : 'p').finally(() => order.push('large'));
    for (let count = 0; count < 6; count += 1) {
      expect(textOf(await resolve('small'))).toBe('small.v1.2.0');
      order.push('small');
    }
    expect(textOf(await answer)).toMatch(expected);
    expect(order.at(-1)).toBe('large');
  });

  test('small packages start no process, and an idle one ends', async () => {
    await serve([...aPackage('p', 1, [rule('true')]), ...aPackage('small', 3)]);
    limitedTo({ idleTime: 1 });
    await resolve('small');
    expect(childProcesses()).toBe(0);
    await resolve('p');
    await expect.poll(childProcesses).toBe(0);
    expect(textOf(await resolve('p'))).toBe('p.v1.0.0');
  });

  test('content that is replaced is read again', async () => {
    await serve(aPackage('p', 1, [rule('true')]));
    const places = served.places.bind(served);
    const seen: number[] = [];
    served.places = (isWanted) => {
      const found = places(isWanted);
      seen.push(found.length);
      return seen.length > 1 ? found : found.map((each) => ({ ...each, directory: '/nowhere' }));
    };
    expect(textOf(await resolve('p'))).toBe('p.v1.0.0');
    expect(seen).toEqual([1, 1]);
  });
});

describe('a resolution that reaches a limit of its process', () => {
  test('of time is worth a retry, and the next one has a process of its own', async () => {
    await serve([...aPackage('p', 1, slowRules), ...aPackage('other', 1, [rule('true')])]);
    const clock = new ManualClock();
    resolver = new ServedResolver(served, { directory, clock });
    const stuck = resolve('p');
    const other = resolve('other');
    await expect.poll(childProcesses).toBe(1);
    clock.advance(30_000);
    const answer = await stuck;
    expect(textOf(answer)).toMatch(/^resolving package "p" takes more than 30 s: request one/);
    expect(answer).toMatchObject({ isWorthRetry: true, packages: ['p'] });
    expect(textOf(await other)).toBe('other.v1.0.0');
  });

  test('of memory ends neither this process nor another resolution', async () => {
    await serve([...aPackage('p', 12_000), ...aPackage('other', 1, [rule('true')])]);
    limitedTo({ memoryMegabytes: 16 });
    const answer = await resolve('p');
    expect(textOf(answer)).toMatch(/^resolving package "p" needs more than 16 MiB: request one/);
    expect(answer.isWorthRetry).toBe(true);
    expect(textOf(await resolve('other'))).toBe('other.v1.0.0');
  });

  test('with an answer of more than a megabyte has none', async () => {
    const long = { type: 'olm.gvk.required', value: { group: 'g'.repeat(1_100_000) } };
    await serve(aPackage('p', 1, [long]));
    expect(textOf(await resolve('p'))).toMatch(
      /^resolving package "p" has an answer of more than 1048576 bytes: /,
    );
  });

  test('is ended by the signal', async () => {
    await serve(aPackage('p', 1, slowRules));
    const stop = new AbortController();
    const running = resolve('p', {}, stop.signal);
    await expect.poll(childProcesses).toBe(1);
    stop.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
    await expect.poll(childProcesses).toBe(0);
  });
});

function childProcesses(): number {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  return children.split(' ').filter((pid) => pid !== '').length;
}
