import { expect, onTestFinished, test } from 'vitest';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { measureClockOffset } from '../platform/kube/connect.ts';
import type { ClockOffset } from '../platform/kube/index.ts';
import type { HttpRequest } from '../platform/kube/transport.ts';
import { defineProvisioner } from '../sdk.ts';
import { createClockCheck, createObjectCounts } from './measurements.ts';

const acme = defineProvisioner({
  className: 'acme',
  bundle: async (files) => files,
  deployment: async () => [],
});

interface Given {
  readonly className?: string;
  readonly phase?: string;
  readonly conditions?: readonly (readonly [type: string, status: string, reason: string])[];
}

function statusOf({ phase, conditions = [] }: Given): object {
  return {
    phase,
    conditions: conditions.map(([type, status, reason]) => ({ type, status, reason })),
  };
}

function objectsOf(given: readonly Given[]): object[] {
  return given.map((each, index) => ({
    metadata: { name: `object-${index}` },
    spec: { provisionerClassName: each.className ?? 'acme' },
    status: statusOf(each),
  }));
}

function countsOf(given: { bundles?: readonly Given[]; deployments?: readonly Given[] }) {
  const bundles = objectsOf(given.bundles ?? []) as Bundle[];
  const deployments = objectsOf(given.deployments ?? []) as BundleDeployment[];
  const kinds = { bundles: { list: () => bundles }, deployments: { list: () => deployments } };
  return createObjectCounts(kinds, [acme]);
}

test('Bundles by phase, those without one included', () => {
  const bundles = [{ phase: 'Unpacked' }, { phase: 'Unpacked' }, { phase: 'Failing' }, {}];
  const counts = countsOf({ bundles }).bundles();
  expect(counts.map(({ labels, count }) => `${labels['phase']} ${count}`)).toEqual([
    'Pending 0',
    'Unpacking 0',
    'Failing 1',
    'Unpacked 2',
    'None 1',
  ]);
});

test('phases that core does not write are one, however many there are', () => {
  const bundles = ['Odd', 'Odder', 'unpacked'].map((phase) => ({ phase }));
  const counts = countsOf({ bundles }).bundles();
  expect(counts.filter(({ count }) => count > 0)).toEqual([
    { labels: { phase: 'Other' }, count: 3 },
  ]);
});

test('deployments by condition; only types and reasons that we know', () => {
  const deployments: Given[] = [
    { conditions: [['Installed', 'True', 'InstallationSucceeded']] },
    { conditions: [['Installed', 'True', 'InstallationSucceeded']] },
    {
      conditions: [
        ['Installed', 'False', 'SomebodysOwn'],
        ['Special', 'True', 'Special'],
      ],
    },
  ];
  expect(countsOf({ deployments }).conditions()).toEqual([
    { labels: { type: 'Installed', status: 'True', reason: 'InstallationSucceeded' }, count: 2 },
    { labels: { type: 'Installed', status: 'False', reason: 'Other' }, count: 1 },
  ]);
});

test('objects of a class that nobody runs; of a great many classes only some by name', () => {
  const silent = Array.from({ length: 30 }, (_, index) => ({ className: `class-${index}` }));
  const counts = countsOf({
    bundles: [...silent, { className: 'acme' }],
    deployments: [
      { className: 'elsewhere', conditions: [['Installed', 'True', 'InstallationSucceeded']] },
      { className: 'lost', conditions: [['Ready', 'Unknown', 'ClassNotServed']] },
    ],
  }).unserved();
  expect(counts).toHaveLength(22);
  expect(counts).toContainEqual({ labels: { kind: 'Bundle', class: 'class-0' }, count: 1 });
  expect(counts).toContainEqual({ labels: { kind: 'Bundle', class: 'other' }, count: 10 });
  expect(counts.at(-1)).toEqual({ labels: { kind: 'BundleDeployment', class: 'lost' }, count: 1 });
});

const { signal } = new AbortController();

/** Answers take 2 s; the server's clock is right. */
async function measured(start: string, date: string | undefined): Promise<ClockOffset> {
  const clock = new ManualClock(Date.parse(start));
  const requests: HttpRequest[] = [];
  const send = async (request: HttpRequest) => {
    requests.push(request);
    clock.advance(2_000);
    return { status: 200, headers: date === undefined ? {} : { date }, text: '{}' };
  };
  const offset = await measureClockOffset({ send }, clock, signal);
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /version']);
  return offset;
}

test('the offset of a clock is known but for the time of the answer and a second', async () => {
  const date = 'Thu, 01 Jan 2026 00:00:30 GMT';
  expect(await measured('2026-01-01T00:00:30Z', date)).toEqual({ least: -1_000, most: 2_000 });
  expect(await measured('2026-01-01T00:01:30Z', date)).toEqual({ least: 59_000, most: 62_000 });
  expect(await measured('2026-01-01T00:00:00Z', date)).toEqual({ least: -31_000, most: -28_000 });
  await expect(measured('2026-01-01T00:00:00Z', undefined)).rejects.toThrow(
    'the API server does not say what time it is',
  );
});

test('a clock that is off is told at the start, every hour, and when it is right again', async () => {
  const clock = new ManualClock();
  const said: string[] = [];
  const gauge: number[] = [];
  const say = (_: object, message: string): void => void said.push(message);
  const answers: (ClockOffset | Error)[] = [
    new Error('connection refused'),
    { least: 41_000, most: 43_000 },
    { least: -9_000, most: 12_000 },
    { least: -61_000, most: -59_000 },
  ];
  const check = createClockCheck({
    clockOffset: async () => {
      const answer = answers.shift() ?? { least: 0, most: 0 };
      if (answer instanceof Error) throw answer;
      return answer;
    },
    metrics: { measured: (offset) => void gauge.push(offset) },
    clock,
    logger: { debug: say, info: say, warn: say },
  });
  const stop = new AbortController();
  const running = check.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const wait = async (lines: number, answered: number): Promise<void> =>
    await eventually(() => expect([said.length, gauge.length]).toEqual([lines, answered]));
  await wait(1, 0);
  clock.advance(60_000);
  await wait(2, 1);
  clock.advance(60 * 60_000);
  await wait(3, 2);
  clock.advance(60 * 60_000);
  await wait(4, 3);
  const off = (problem: string): string =>
    `this computer's clock is ${problem} the API server's: certificates and leases depend on it; synchronize the clocks of the cluster's computers`;
  expect(said).toEqual([
    "cannot compare clocks with the API server's",
    off('41 s ahead of'),
    "this computer's clock is right again",
    off('59 s behind'),
  ]);
  expect(gauge).toEqual([42_000, 1_500, -60_000]);
});
