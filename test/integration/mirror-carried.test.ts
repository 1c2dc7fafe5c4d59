import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  startBusyRegistry,
  startLyingRegistry,
  startStallingRegistry,
} from '../helpers/hostile-registries.ts';
import { MirrorRegistries } from '../helpers/mirror-registries.ts';
import { pushImage } from '../helpers/push-image.ts';
import { type CtlResult, rukpakctl, spawnRukpakctl } from '../helpers/rukpakctl.ts';

let registries: MirrorRegistries;

beforeAll(async () => {
  registries = await MirrorRegistries.start();
  const base = { files: { base: 'of both' } };
  await push('one', [base, { files: { own: 'of one' } }]);
  await push('two', [base, { files: { own: 'of two' } }]);
});

async function push(
  name: string,
  layers: Parameters<typeof pushImage>[0]['layers'],
): Promise<void> {
  await pushImage({ registry: registries.source, repository: `app/${name}`, tag: 'v1', layers });
}

afterAll(async () => await registries.stop());

beforeEach(async () => await registries.nextTest());

async function anImageSet(...images: readonly string[]): Promise<string> {
  return await registries.imageSet({ additionalImages: images.map((name) => ({ name })) });
}

function commandLine(hosts: readonly string[], ...args: readonly string[]): string[] {
  const insecure = hosts.flatMap((host) => ['--insecure-registry', host]);
  const results = join(registries.dir, 'results');
  return ['mirror', ...args, '--results', results, ...insecure, ...registries.flags];
}

async function mirrored(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl(commandLine([], ...args));
}

async function isOnMirror(name: string): Promise<boolean> {
  const accept = 'application/vnd.oci.image.manifest.v1+json';
  const url = `http://${registries.mirror}/v2/${registries.path}/app/${name}/manifests/v1`;
  return (await fetch(url, { headers: { accept } })).ok;
}

const one = (): string => `${registries.source}/app/one:v1`;
const two = (): string => `${registries.source}/app/two:v1`;

test.each(['carried', 'carried.tar'])('%s: only what is new since the last time', async (name) => {
  const first = join(registries.dir, name);
  const second = join(registries.dir, `second-${name}`);
  await mirrored('--config', await anImageSet(one()), '--to', first);
  const record = join(registries.dir, 'results/mirror-record.json');
  const both = await anImageSet(one(), two());
  const next = await mirrored('--config', both, '--to', second, '--since', record);
  expect(next.stdout).toContain(`present  ${one()}\n`);
  expect(next.stdout).toContain(`copied  ${two()}\n`);

  const early = await mirrored('--from', second, '--to', registries.to);
  expect(early.code).toBe(1);
  expect(early.stdout).toMatch(
    /one:v1: it was carried before, and .* push what was carried before/,
  );
  expect(early.stdout).toMatch(
    /two:v1: .* does not have blob .*; push the earlier directory or tar first/,
  );
  expect((await mirrored('--from', first, '--to', registries.to)).code).toBe(0);
  const late = await mirrored('--from', second, '--to', registries.to);
  expect(late.stdout).toContain('2 mirrored, 0 failed');
  expect(await isOnMirror('two')).toBe(true);
  const mapping = await readFile(join(registries.dir, 'results/mapping.txt'), 'utf8');
  expect(mapping.trimEnd().split('\n')).toHaveLength(2);

  const third = await mirrored(
    '--config',
    both,
    '--to',
    join(registries.dir, `3-${name}`),
    '--since',
    second,
  );
  expect(third.stdout).not.toContain('copied');
});

describe('a run that is killed', () => {
  test.each(['carried', 'carried.tar'])('to %s is gone on with', async (name) => {
    const place = join(registries.dir, name);
    const stalling = await startStallingRegistry(registries.source, 2);
    try {
      const config = await anImageSet(`${stalling.host}/app/one:v1`, `${stalling.host}/app/two:v1`);
      const args = commandLine([stalling.host], '--config', config, '--to', place);
      // One after the other, so that those before the one that stalls are there.
      args.push('--max-per-registry', '1');
      const killed = await spawnRukpakctl(args, {
        // What it leaves goes with the rest.
        env: { TMPDIR: registries.dir },
        onStart: (child) => void stalling.stalled.then(() => child.kill('SIGKILL')),
      });
      expect(killed.code).toBeNull();
      const before = stalling.blobs;
      stalling.release();
      const resumed = await rukpakctl(args);
      expect(resumed.stdout).toContain('2 mirrored, 0 failed');
      // Two layers of each image, one of them the same, and two configurations.
      expect(stalling.blobs - before).toBe(3);
      await stat(place);
      expect((await mirrored('--from', place, '--to', registries.to)).stdout).toContain('0 failed');
    } finally {
      await stalling.close();
    }
  });
});

test('a tar is gone on with when it is finished, too', async () => {
  const tar = join(registries.dir, 'carried.tar');
  await mirrored('--config', await anImageSet(one()), '--to', tar);
  await mirrored('--config', await anImageSet(one(), two()), '--to', tar);
  const { stdout } = await mirrored('--from', tar, '--to', registries.to);
  expect(stdout).toContain('2 mirrored, 0 failed');
});

test('a file that is no tar of images is left alone', async () => {
  const tar = join(registries.dir, 'mine.tar');
  await writeFile(tar, 'something else');
  const { code, stderr } = await mirrored('--config', await anImageSet(one()), '--to', tar);
  expect(code).toBe(1);
  expect(stderr).toContain(
    `cannot write on ${tar}: no earlier run has written it; name another file`,
  );
  expect(await readFile(tar, 'utf8')).toBe('something else');
});

test('a registry that throttles is asked again', async () => {
  const busy = await startBusyRegistry(registries.source);
  try {
    const config = await anImageSet(`${busy.host}/app/one:v1`);
    const { stdout } = await rukpakctl(
      commandLine([busy.host], '--config', config, '--to', registries.to),
    );
    expect(stdout).toContain('1 mirrored, 0 failed');
  } finally {
    await busy.close();
  }
});

test('a registry that sends other bytes than it says: its image is named, others come', async () => {
  const lying = await startLyingRegistry(registries.source);
  try {
    const config = await anImageSet(`${lying.host}/app/one:v1`, two());
    const args = commandLine([lying.host], '--config', config, '--to', registries.to);
    const { code, stdout } = await rukpakctl(args);
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`error: ${lying.host}/app/one:v1: .*sha256:[0-9a-f]{64}`));
    expect(stdout).toContain('1 mirrored, 1 failed');
    expect(await isOnMirror('one')).toBe(false);
    expect(await isOnMirror('two')).toBe(true);
  } finally {
    await lying.close();
  }
});
