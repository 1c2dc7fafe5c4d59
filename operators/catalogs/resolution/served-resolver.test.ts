// @module-tag process
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { blobOfValue } from '../../../catalog/blobs/index.ts';
import { systemClock } from '../../../core/controller.ts';
import type { PackageRequest } from '../../../resolver/olm1/index.ts';
import {
  packageBlobs,
  rule,
  rulesWithoutEnd,
  webOfRequirements,
} from '../../../test/helpers/hostile-packages.ts';
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
  served = new ServedCatalogs(systemClock);
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

describe('off the event loop', () => {
  test.each([
    [
      '100,000 channel entries without bundles',
      packageBlobs('p', 100_000).slice(0, 12),
      /^bundle "p\.v1\.10\.0" not found in catalog "colours"/,
    ],
    ['2,000 bundles', packageBlobs('p', 2_000), /^p\.v1\.1999\.0$/],
    [
      'rules without end',
      packageBlobs('p', 1, rulesWithoutEnd()),
      /^resolving package "p" takes more than 40000000 steps: request one channel /,
    ],
    ['a web of requirements', webOfRequirements('p'), /^constraints not satisfiable:\n/],
  ])('%s end in an answer while other packages are resolved', async (_, blobs, expected) => {
    await serve([...blobs, ...packageBlobs('small', 3)]);
    const order: string[] = [];
    const answer = resolve('p').finally(() => order.push('large'));
    for (let count = 0; count < 6; count += 1) {
      expect(textOf(await resolve('small'))).toBe('small.v1.2.0');
      order.push('small');
    }
    expect(textOf(await answer)).toMatch(expected);
    expect(order.at(-1)).toBe('large');
  });

  test('small packages start no process, and an idle one ends', async () => {
    await serve([...packageBlobs('p', 1, [rule('true')]), ...packageBlobs('small', 3)]);
    limitedTo({ idleTime: 1 });
    await resolve('small');
    expect(childProcesses()).toBe(0);
    await resolve('p');
    await expect.poll(childProcesses).toBe(0);
    expect(textOf(await resolve('p'))).toBe('p.v1.0.0');
  });

  test('content that is replaced is read again', async () => {
    await serve(packageBlobs('p', 1, [rule('true')]));
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

describe('content that the disk has damaged', () => {
  const found = (): readonly string[] => {
    const names: string[] = [];
    served.damaged.onFound(({ kind, name }) => names.push(`${kind}/${name}`));
    return names;
  };

  test.each([
    ['a package', 'packages/all.jsonl', 'cannot be read from the disk'],
    ['the index', 'packages/index.json', undefined],
  ])('is found by the process that cannot read %s', async (_, file, problem) => {
    const names = found();
    await serve(packageBlobs('p', 1, [rule('true')]));
    const [{ directory: content } = { directory: '' }] = served.places(() => true);
    const { size } = await stat(join(content, file));
    await writeFile(join(content, file), Buffer.alloc(size));
    const answer = await resolve('p').catch((error: unknown) => error);
    if (problem === undefined) expect(answer).toBeInstanceOf(Error);
    else expect((answer as PackageAnswer).problems.join()).toContain(problem);
    await expect.poll(() => names).toEqual(['Catalog/colours']);
  });
});

describe('a resolution that reaches a limit of its process', () => {
  test('of time is worth a retry, and the next one has a process of its own', async () => {
    await serve([
      ...packageBlobs('p', 1, rulesWithoutEnd()),
      ...packageBlobs('other', 1, [rule('true')]),
    ]);
    const clock = new ManualClock();
    resolver = new ServedResolver(served, { directory, clock });
    const stuck = resolve('p');
    const other = resolve('other');
    await expect.poll(childProcesses).toBe(1);
    clock.advance(300_000);
    const answer = await stuck;
    expect(textOf(answer)).toMatch(/^resolving package "p" takes more than 300 s: request one/);
    expect(answer).toMatchObject({ isWorthRetry: true, packages: ['p'] });
    expect(textOf(await other)).toBe('other.v1.0.0');
  });

  test('of processor time says so, however long others had the processor', async () => {
    await serve(packageBlobs('p', 1, rulesWithoutEnd()));
    limitedTo({ time: { processor: 50, elapsed: Number.POSITIVE_INFINITY } });
    const answer = await resolve('p');
    expect(textOf(answer)).toMatch(/takes more than 0.05 s of processor time: request one/);
    expect(answer).toMatchObject({ isWorthRetry: true });
  });

  test('of memory ends neither this process nor another resolution', async () => {
    await serve([...packageBlobs('p', 6_000), ...packageBlobs('other', 1, [rule('true')])]);
    limitedTo({ memoryMegabytes: 16 });
    const answer = await resolve('p');
    expect(textOf(answer)).toMatch(/^resolving package "p" needs more than 16 MiB: request one/);
    expect(answer.isWorthRetry).toBe(true);
    expect(textOf(await resolve('other'))).toBe('other.v1.0.0');
  });

  test('with an answer of more than a megabyte has none', async () => {
    const long = { type: 'olm.gvk.required', value: { group: 'g'.repeat(1_100_000) } };
    await serve(packageBlobs('p', 1, [long]));
    expect(textOf(await resolve('p'))).toMatch(
      /^resolving package "p" has an answer of more than 1048576 bytes: /,
    );
  });

  test('is ended by the signal', async () => {
    await serve(packageBlobs('p', 1, rulesWithoutEnd()));
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
